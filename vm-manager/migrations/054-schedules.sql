-- What runs by the clock: when, in which zone, as whom, and what became of it the last time.
create table vm_schedules (
  id bigint generated always as identity primary key,
  version integer not null default 1,
  name text not null,
  kind text not null,
  -- null: of the whole organisation
  application_id bigint references vm_applications (id) on delete cascade,
  cron text not null,
  timezone text not null,
  jitter_seconds integer not null default 0,
  missed text not null default 'run_once' check (missed in ('run_once', 'skip')),
  payload jsonb not null default '{}',
  enabled boolean not null default true,
  -- whoever made or changed it last: with their rights it runs
  owner_id text not null,
  owner text not null,
  next_run_at timestamptz,
  last_due_at timestamptz,
  last_outcome text check (last_outcome in ('started', 'refused', 'overlapped', 'missed')),
  last_reason text not null default '',
  last_run_id bigint references vm_runs (id) on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index vm_schedules_due on vm_schedules (next_run_at) where enabled;
create index vm_schedules_of_application on vm_schedules (application_id);
create index vm_schedules_of_run on vm_schedules (last_run_id) where last_run_id is not null;
