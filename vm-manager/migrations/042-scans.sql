-- Scans of running applications: who proved that a target is theirs, within which bounds it is scanned, how a scan logs
-- in, the switch that stops all of them, and what each scan has found with the request that shows it.
alter table vm_targets
  add column scope_paths jsonb not null default '[]',
  add column excluded_paths jsonb not null default '[]',
  add column scan_methods jsonb not null default '["GET", "HEAD", "OPTIONS", "POST"]',
  add column requests_max integer not null default 20000,
  add column requests_per_second integer not null default 10,
  add column seconds_max integer not null default 3600,
  add column scan_windows jsonb not null default '[]',
  add column waf_url text,
  add column callback_url text,
  -- what the operator puts into a file, a header or a TXT record
  add column verify_token text not null default replace(gen_random_uuid()::text, '-', ''),
  add column verified_at timestamptz,
  add column verified_by text;

create table vm_target_sessions (
  target_id bigint primary key references vm_targets (id) on delete cascade,
  type text not null check (type in ('form', 'bearer', 'header', 'cookie')),
  config jsonb not null,
  -- sealed; it opens for the origin of this target only
  secret text not null,
  updated_by text not null,
  updated_at timestamptz not null
);

create table vm_scan_switch (
  singleton boolean primary key default true check (singleton),
  halted boolean not null,
  reason text not null,
  changed_by text not null,
  changed_at timestamptz not null
);

create table vm_scan_findings (
  id bigint generated always as identity primary key,
  run_id bigint not null references vm_runs (id) on delete cascade,
  check_id text not null,
  title text not null,
  severity smallint not null check (severity between 0 and 4),
  cwe integer not null,
  method text not null,
  url text not null,
  param text,
  -- the request without the attack, so that it can be proved again
  form jsonb not null,
  proof jsonb not null,
  behind_waf text not null default 'not_tried'
    check (behind_waf in ('not_tried', 'exploitable', 'blocked', 'unknown')),
  finding_id bigint references vm_findings (id) on delete set null,
  proved_at timestamptz not null,
  still_there boolean not null default true
);
create index vm_scan_findings_of_run on vm_scan_findings (run_id, id);
create index vm_scan_findings_of_finding on vm_scan_findings (finding_id) where finding_id is not null;
