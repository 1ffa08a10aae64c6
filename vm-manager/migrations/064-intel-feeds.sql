-- Addresses of an operator's own for the sets, such as a mirror: one for each set, while no setting names one.
create table vm_intel_feeds (
  id bigint generated always as identity primary key,
  set_name text not null unique check (set_name in ('epss', 'kev', 'osv')),
  name text not null,
  url text not null,
  every_hours integer not null,
  enabled boolean not null default true,
  tried_at timestamptz,
  fetched_at timestamptz,
  -- of the last try; null: it went well
  error text,
  created_by text not null,
  created_at timestamptz not null
);
