-- What an installation decides about the rules of its scanners, the rules that it has of its own, secrets that it knows
-- to be none, and the SARIF of the newest scans of source code.
create table vm_scan_rules (
  kind text not null,
  rule_id text not null,
  enabled boolean not null default true,
  -- null: the rule's own
  severity text check (severity in ('info', 'low', 'medium', 'high', 'critical')),
  reason text not null default '',
  updated_by text not null,
  updated_at timestamptz not null,
  primary key (kind, rule_id)
);
create table vm_own_rules (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('sast', 'secrets')),
  rule_id text not null,
  title text not null,
  severity text not null check (severity in ('info', 'low', 'medium', 'high', 'critical')),
  cwes jsonb not null default '[]',
  description text not null,
  remediation text not null,
  pattern text not null,
  endings jsonb not null default '[]',
  created_by text not null,
  created_at timestamptz not null,
  unique (kind, rule_id)
);
create table vm_secret_allowlist (
  id bigint generated always as identity primary key,
  -- null: of every application
  application_id bigint references vm_applications (id) on delete cascade,
  kind text not null check (kind in ('hash', 'path', 'regex')),
  value text not null,
  reason text not null,
  expires_at timestamptz not null,
  created_by text not null,
  created_at timestamptz not null
);
create index vm_secret_allowlist_by_end on vm_secret_allowlist (expires_at);
create table vm_scan_sarif (
  run_id bigint primary key references vm_runs (id) on delete cascade,
  -- packed with gzip
  content bytea not null
);
