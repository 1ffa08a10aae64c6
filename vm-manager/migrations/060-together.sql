-- Findings that a person has said to be two: never proposed as one again. The smaller id comes first.
create table vm_distinct_findings (
  left_id bigint not null references vm_findings (id) on delete cascade,
  right_id bigint not null references vm_findings (id) on delete cascade,
  by_id text not null,
  by_name text not null,
  reason text not null default '',
  at timestamptz not null,
  primary key (left_id, right_id),
  check (left_id < right_id)
);
create index vm_distinct_findings_right on vm_distinct_findings (right_id);
create index vm_findings_by_canonical on vm_findings (canonical_id) where canonical_id is not null;

-- What people add to a finding; what tools told stands in vm_finding_details. Texts are masked before they are stored.
create table vm_finding_evidence (
  id bigint generated always as identity primary key,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  kind text not null,
  title text not null,
  body jsonb not null default '{}',
  file_name text,
  media_type text,
  bytes integer,
  sha256 text,
  content bytea,
  proof text,
  created_by text not null,
  created_at timestamptz not null
);
create index vm_finding_evidence_by_finding on vm_finding_evidence (finding_id, id);
