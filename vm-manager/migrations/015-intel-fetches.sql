-- How the last fetch of a published set went; a set that was never fetched has no row.
create table vm_intel_fetches (
  name text primary key check (name in ('epss', 'kev')),
  url text not null,
  tried_at timestamptz not null,
  fetched_at timestamptz,
  -- of the last try; null: it went well
  error text
);
