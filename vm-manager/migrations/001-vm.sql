-- The vulnerability manager. Ids are decimal strings in JSON. All times are timestamptz (UTC). `version` is what
-- If-Match names. Whatever belongs to an application carries application_id (and findings project_id, too), because
-- visibility is asked by them in every statement.
create table vm_projects (
  id bigint generated always as identity primary key,
  name text not null unique,
  owner text not null default '',
  description text not null default '',
  demo boolean not null default false,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table vm_applications (
  id bigint generated always as identity primary key,
  external_id text unique,
  name text not null,
  environment text not null default '',
  business_criticality text not null default 'unknown'
    check (business_criticality in ('critical', 'high', 'medium', 'low', 'unknown')),
  project_id bigint references vm_projects (id),
  owner text not null default '',
  exposure text not null default 'unknown' check (exposure in ('internet', 'internal', 'unknown')),
  data_classes jsonb not null default '[]',
  tags jsonb not null default '[]',
  site text,
  status text not null default 'active' check (status in ('active', 'archived')),
  demo boolean not null default false,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index vm_applications_by_project on vm_applications (project_id, id);
create unique index vm_applications_by_name on vm_applications (coalesce(project_id, 0), lower(name));

create table vm_targets (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  url text not null,
  kind text not null default 'web' check (kind in ('web', 'api')),
  verified_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (application_id, url)
);

create table vm_target_groups (
  id bigint generated always as identity primary key,
  name text not null unique,
  description text not null default '',
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create table vm_target_group_members (
  group_id bigint not null references vm_target_groups (id) on delete cascade,
  target_id bigint not null references vm_targets (id) on delete cascade,
  primary key (group_id, target_id)
);

-- What lists, chains and statistics read; the long texts stand in vm_finding_details, so that a list never reads them.
create table vm_findings (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  project_id bigint,
  title text not null,
  status text not null default 'new' check (status in ('new', 'triaged', 'confirmed', 'in_progress', 'fix_pending',
    'reopened', 'resolved', 'false_positive', 'risk_accepted', 'muted', 'duplicate', 'out_of_scope')),
  is_open boolean not null generated always as
    (status in ('new', 'triaged', 'confirmed', 'in_progress', 'fix_pending', 'reopened')) stored,
  -- 0 info, 1 low, 2 medium, 3 high, 4 critical
  severity smallint not null check (severity between 0 and 4),
  source text not null,
  tool text not null default '',
  rule_id text not null default '',
  cwes jsonb not null default '[]',
  vuln_ids jsonb not null default '[]',
  location text not null default '',
  risk_score smallint check (risk_score between 0 and 100),
  risk_override smallint check (risk_override between 0 and 100),
  risk_override_until timestamptz,
  effective_risk smallint not null,
  priority_score integer not null,
  reachable boolean,
  exploit_confirmed boolean not null default false,
  runtime_confirmed boolean not null default false,
  kev boolean not null default false,
  epss real,
  fix_state text not null default 'unknown' check (fix_state in ('fixed_available', 'wont_fix', 'no_fix', 'unknown')),
  assignee_id text,
  tags jsonb not null default '[]',
  -- stable identity within the application; see vm-manager/imports/fingerprint.ts
  fingerprint text not null,
  cluster_key text,
  canonical_id bigint references vm_findings (id) on delete cascade,
  previous_status text,
  resolved_by text,
  reopen_count integer not null default 0,
  sla_start timestamptz not null,
  sla_days integer,
  sla_class text not null default 'none',
  sla_paused_at timestamptz,
  sla_paused_ms bigint not null default 0,
  due_at timestamptz,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  closed_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (application_id, fingerprint)
);
-- candidates of the chain engine: the best open findings of one application
create index vm_findings_candidates on vm_findings (application_id, priority_score desc, effective_risk desc, id)
  where is_open;
-- the pages of lists
create index vm_findings_by_priority on vm_findings (priority_score desc, id desc);
create index vm_findings_open_by_priority on vm_findings (priority_score desc, id desc) where is_open;
create index vm_findings_by_severity on vm_findings (severity, priority_score desc, id desc);
create index vm_findings_by_status on vm_findings (status, priority_score desc, id desc);
create index vm_findings_by_application on vm_findings (application_id, is_open, severity);
create index vm_findings_by_project on vm_findings (project_id, priority_score desc, id desc);
create index vm_findings_by_due on vm_findings (due_at) where is_open and due_at is not null;
create index vm_findings_by_vuln on vm_findings using gin (vuln_ids);
create index vm_findings_by_cluster on vm_findings (cluster_key) where cluster_key is not null;
create index vm_findings_by_first_seen on vm_findings (first_seen desc, id desc);

create table vm_finding_details (
  finding_id bigint primary key references vm_findings (id) on delete cascade,
  description text not null default '',
  location jsonb not null default '{}',
  cvss jsonb,
  fix jsonb not null default '{}',
  refs jsonb not null default '[]',
  evidence jsonb not null default '[]',
  extra jsonb not null default '{}',
  -- the numbers that risk_score was made of
  risk_factors jsonb not null default '{}'
);

-- one row for each sighting of a finding by a tool in a scope; duplicates are rows here, never findings
create table vm_occurrences (
  id bigint generated always as identity primary key,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  application_id bigint not null references vm_applications (id) on delete cascade,
  scope_key text not null,
  tool text not null,
  tool_key text not null,
  location jsonb not null default '{}',
  raw_hash text not null,
  first_run bigint,
  last_run bigint,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  missed_runs integer not null default 0,
  gone_at timestamptz,
  unique (scope_key, tool_key)
);
create index vm_occurrences_by_finding on vm_occurrences (finding_id);

create table vm_transitions (
  id bigint generated always as identity primary key,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  from_status text,
  to_status text not null,
  actor_id text,
  actor text not null,
  by text not null check (by in ('person', 'importer', 'proof', 'policy', 'clock')),
  reason text not null default '',
  justification text,
  run_id bigint,
  at timestamptz not null
);
create index vm_transitions_by_finding on vm_transitions (finding_id, id desc);
create index vm_transitions_by_time on vm_transitions (at);

create table vm_comments (
  id bigint generated always as identity primary key,
  entity text not null check (entity in ('finding', 'application', 'acceptance', 'assessment')),
  entity_id bigint not null,
  application_id bigint references vm_applications (id) on delete cascade,
  author_id text,
  author text not null,
  text text not null,
  created_at timestamptz not null,
  deleted_at timestamptz
);
create index vm_comments_by_entity on vm_comments (entity, entity_id, id);

create table vm_views (
  id bigint generated always as identity primary key,
  name text not null,
  owner_id text not null,
  query jsonb not null,
  columns jsonb not null default '[]',
  shared boolean not null default false,
  created_at timestamptz not null,
  unique (owner_id, name)
);

create table vm_mutes (
  id bigint generated always as identity primary key,
  name text not null,
  application_id bigint references vm_applications (id) on delete cascade,
  predicate jsonb not null,
  reason text not null,
  expires_at timestamptz not null,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table vm_acceptances (
  id bigint generated always as identity primary key,
  title text not null,
  decision text not null check (decision in ('accept', 'reduce', 'avoid', 'transfer')),
  status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'revoked', 'expired')),
  justification text not null,
  compensating_controls text not null default '',
  expires_at timestamptz not null,
  on_expiry text not null default 'resume' check (on_expiry in ('resume', 'restart')),
  requested_by text not null,
  requested_by_name text not null,
  decided_by text,
  decided_by_name text,
  decided_at timestamptz,
  decision_reason text not null default '',
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create table vm_acceptance_findings (
  acceptance_id bigint not null references vm_acceptances (id) on delete cascade,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  primary key (acceptance_id, finding_id)
);
create index vm_acceptance_findings_by_finding on vm_acceptance_findings (finding_id);

create table vm_sla_policies (
  id bigint generated always as identity primary key,
  name text not null unique,
  position integer not null default 100,
  selector jsonb not null,
  -- days by severity; null: no clock
  matrix jsonb not null,
  business_days boolean not null default false,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table vm_policies (
  id bigint generated always as identity primary key,
  name text not null unique,
  predicate jsonb not null,
  action text not null check (action in ('violation', 'gate', 'notify')),
  severity text not null default 'medium' check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table vm_assessments (
  id bigint generated always as identity primary key,
  name text not null,
  application_id bigint not null references vm_applications (id) on delete cascade,
  kind text not null default 'pentest' check (kind in ('pentest', 'review', 'threat-model', 'audit')),
  scope text not null default '',
  lead text not null default '',
  status text not null default 'planned' check (status in ('planned', 'active', 'review', 'closed')),
  checklist jsonb not null default '[]',
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- jobs of any kind; an import is a run of kind `import`
create table vm_runs (
  id bigint generated always as identity primary key,
  kind text not null,
  application_id bigint references vm_applications (id) on delete cascade,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'succeeded', 'failed', 'canceled', 'timed_out', 'rolled_back')),
  input jsonb not null default '{}',
  result jsonb not null default '{}',
  problems jsonb not null default '[]',
  scope_key text,
  error text,
  progress smallint not null default 0 check (progress between 0 and 100),
  cancel_asked boolean not null default false,
  lease_until timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
create index vm_runs_by_kind on vm_runs (kind, id desc);
create index vm_runs_waiting on vm_runs (id) where status in ('queued', 'running');
create index vm_runs_by_scope on vm_runs (scope_key, id desc) where scope_key is not null;
create table vm_run_lines (
  run_id bigint not null references vm_runs (id) on delete cascade,
  line integer not null,
  at timestamptz not null,
  text text not null,
  primary key (run_id, line)
);

create table vm_mappings (
  id bigint generated always as identity primary key,
  name text not null unique,
  format text not null check (format in ('json', 'csv')),
  rows_path text not null default '',
  fields jsonb not null,
  severity_map jsonb not null default '{}',
  fingerprint_fields jsonb not null default '[]',
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- statements about CVEs that an operator has imported: EPSS and KEV
create table vm_cves (
  cve text primary key,
  epss real,
  epss_percentile real,
  epss_date date,
  epss_model text,
  kev boolean not null default false,
  kev_added date,
  kev_due date,
  kev_ransomware boolean not null default false
);
create table vm_feeds (
  name text primary key,
  sha256 text not null,
  rows integer not null,
  model text,
  fetched_at timestamptz not null
);

create table vm_tokens (
  id text primary key,
  name text not null,
  kind text not null check (kind in ('personal', 'service')),
  secret_hash text not null,
  user_id text not null,
  scopes jsonb not null,
  application_ids jsonb,
  allowed_cidrs jsonb,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  last_ip text,
  revoked_at timestamptz
);
create index vm_tokens_by_user on vm_tokens (user_id, created_at desc);

create table vm_roles (
  id bigint generated always as identity primary key,
  name text not null unique,
  permissions jsonb not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- who has grants sees what they name and nothing else; who has none has the role of the account everywhere
create table vm_grants (
  user_id text not null,
  scope text not null check (scope in ('org', 'project', 'application')),
  scope_id bigint not null default 0,
  role text not null,
  primary key (user_id, scope, scope_id, role)
);

create table vm_events (
  id bigint generated always as identity primary key,
  type text not null,
  entity text not null,
  entity_id bigint not null,
  application_id bigint references vm_applications (id) on delete cascade,
  payload jsonb not null default '{}',
  unique_key text unique,
  at timestamptz not null
);
