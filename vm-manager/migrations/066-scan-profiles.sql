-- Profiles of scans that an organisation writes itself: which checks run, and within which limits.
create table vm_scan_profiles (
  id bigint generated always as identity primary key,
  version integer not null default 1,
  name text not null unique,
  base text not null,
  checks jsonb not null,
  requests_max integer,
  seconds_max integer,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- what one look at a target has shown
alter table vm_targets
  add column probe jsonb,
  add column probed_at timestamptz;
