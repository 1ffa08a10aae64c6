-- A clock that a person stopped: it stands until it is resumed or its time is over, whatever open state the finding has
-- meanwhile. The rows stay as a record.
alter table vm_findings add column sla_held boolean not null default false;
create table vm_sla_pauses (
  id bigint generated always as identity primary key,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  reason text not null,
  until timestamptz,
  paused_by text not null,
  paused_at timestamptz not null,
  resumed_by text,
  resume_reason text not null default '',
  resumed_at timestamptz
);
create index vm_sla_pauses_by_finding on vm_sla_pauses (finding_id, id desc);
create index vm_sla_pauses_open on vm_sla_pauses (until) where resumed_at is null;

-- Each longer term of an acceptance, with who gave it.
create table vm_acceptance_extensions (
  id bigint generated always as identity primary key,
  acceptance_id bigint not null references vm_acceptances (id) on delete cascade,
  from_at timestamptz not null,
  to_at timestamptz not null,
  reason text not null,
  by_id text not null,
  by_name text not null,
  at timestamptz not null
);
create index vm_acceptance_extensions_by_acceptance on vm_acceptance_extensions (acceptance_id, id);

alter table vm_violations
  add column waived_until timestamptz,
  add column waived_by text,
  add column waived_at timestamptz,
  add column waive_reason text;
