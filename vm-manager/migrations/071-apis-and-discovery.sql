-- What tests of the access to an API asked as whom, a row each operation.
create table vm_api_test_rows (
  id bigint generated always as identity primary key,
  run_id bigint not null references vm_runs (id) on delete cascade,
  method text not null,
  template text not null,
  url text not null,
  check_id text not null,
  verdict text not null check (verdict in ('holds', 'broken', 'unknown', 'not_tried')),
  why text not null,
  cells jsonb not null default '[]',
  steps jsonb not null default '[]'
);
create index vm_api_test_rows_by_run on vm_api_test_rows (run_id, id);

-- What discovery came upon: a host, a service at a port, an API. One row however many sources name it.
create table vm_discovery_assets (
  id bigint generated always as identity primary key,
  key text not null unique,
  kind text not null check (kind in ('host', 'service', 'api')),
  host text not null,
  port integer,
  url text,
  state text not null default 'new' check (state in ('new', 'known', 'ignored')),
  reason text not null default '',
  -- [{source, detail, run_id, at}], the newest of each source and detail
  provenance jsonb not null default '[]',
  sources jsonb not null default '[]',
  -- the site of the firewall that it goes through; null: none
  site text,
  -- null: no source says whether others reach it
  is_exposed boolean,
  application_id bigint references vm_applications (id) on delete set null,
  target_id bigint references vm_targets (id) on delete set null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  decided_by text,
  decided_at timestamptz,
  version integer not null default 1
);
create index vm_discovery_assets_by_time on vm_discovery_assets (last_seen, id);

-- A site ties an application to traffic now. Whoever edits an application of theirs could name any site until here: where
-- there are people or tokens of a part of the organisation, links that stand are shown to such people only once somebody
-- of the whole organisation has set them again.
alter table vm_applications add column site_confirmed boolean not null default true;
update vm_applications set site_confirmed = false
where coalesce(site, '') <> '' and (exists (select 1 from vm_confined)
  or exists (select 1 from vm_tokens where application_ids is not null));
-- names that are kept for applications without a site
update vm_applications set site = null where site ~ '^[[:space:]]*~';
