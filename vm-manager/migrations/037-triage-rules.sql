-- Rules that triage findings: which they are for, what follows, what each has done (so that it can be undone, and so
-- that no rule does a thing twice to one finding), and the work that waits.
create table vm_rules (
  id bigint generated always as identity primary key,
  name text not null unique,
  position integer not null default 0,
  predicate jsonb not null,
  effects jsonb not null,
  stop boolean not null default false,
  enabled boolean not null default true,
  -- moves with what it says, and not with its name: another revision is another rule to findings
  revision integer not null default 1,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index vm_rules_in_order on vm_rules (position, id);

create table vm_rule_runs (
  id bigint generated always as identity primary key,
  cause text not null check (cause in ('import', 'stored')),
  -- the import whose findings it is for; null: all open ones
  import_run bigint references vm_runs (id) on delete cascade,
  status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'undoing', 'undone')),
  -- how far it has come: the last finding that was looked at, or the last change that was undone
  reached bigint not null default 0,
  looked_at integer not null default 0,
  changed integer not null default 0,
  kept integer not null default 0,
  lease_until timestamptz,
  created_by text not null,
  created_by_id text,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index vm_rule_runs_waiting on vm_rule_runs (id) where status in ('queued', 'running', 'undoing');
create unique index vm_rule_runs_of_import on vm_rule_runs (import_run);

create table vm_rule_changes (
  id bigint generated always as identity primary key,
  run_id bigint not null references vm_rule_runs (id) on delete cascade,
  rule_id bigint not null references vm_rules (id) on delete cascade,
  revision integer not null,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  member text not null,
  before jsonb not null,
  after jsonb not null,
  at timestamptz not null,
  undone_at timestamptz
);
create index vm_rule_changes_of_run on vm_rule_changes (run_id, id);
create index vm_rule_changes_of_finding on vm_rule_changes (finding_id, rule_id);
create index vm_rule_changes_of_rule on vm_rule_changes (rule_id);

-- A rule that mutes has one mute, which ends with it.
alter table vm_mutes add column rule_id bigint unique references vm_rules (id) on delete cascade;
