-- The gate of pipelines: what it asks, and what it answered. An answer keeps everything that it was made of, so that
-- "why did it fail" has the same answer a year later.
create table vm_gates (
  id bigint generated always as identity primary key,
  name text not null unique,
  position integer not null default 100,
  -- of applications; null: every application
  selector jsonb,
  conditions jsonb not null,
  mode text not null default 'enforce' check (mode in ('enforce', 'warn')),
  baseline_branch text not null default 'main',
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table vm_gate_evaluations (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  commit text not null,
  branch text not null,
  -- of the conditions; an override does not change it
  verdict text not null check (verdict in ('pass', 'fail', 'warn')),
  snapshot jsonb not null,
  override jsonb,
  override_until timestamptz,
  created_by text not null,
  created_at timestamptz not null
);
create index vm_gate_evaluations_by_application on vm_gate_evaluations (application_id, id desc);
create index vm_gate_evaluations_by_commit on vm_gate_evaluations (application_id, commit, id desc);

-- imports of a commit, which the gate asks for
create index vm_runs_imports on vm_runs (application_id, id desc) where kind = 'import' and status = 'succeeded';

-- a badge is seen by whoever has its address; the address holds a key of which only the hash is kept
create table vm_badges (
  application_id bigint primary key references vm_applications (id) on delete cascade,
  key_hash text not null,
  created_at timestamptz not null
);
