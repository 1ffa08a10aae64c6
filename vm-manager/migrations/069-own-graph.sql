-- How an organisation classifies a finding or a weakness itself, and its own rules of toxic combinations.
create table vm_capabilities (
  id bigint generated always as identity primary key,
  finding_id bigint unique references vm_findings (id) on delete cascade,
  cwe integer unique,
  -- null: it brings an attacker no further
  stage text,
  capability text,
  reason text not null,
  set_by text not null,
  set_at timestamptz not null,
  check ((finding_id is null) <> (cwe is null)),
  check ((stage is null) = (capability is null))
);
create table vm_toxic_rules (
  id bigint generated always as identity primary key,
  slug text not null unique,
  name text not null,
  slots jsonb not null,
  score_note text not null,
  created_by text not null,
  created_at timestamptz not null
);
