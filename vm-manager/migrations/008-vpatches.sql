-- Virtual patches: rules of the firewall that stand before findings until they are mended, and the proofs that they do.
-- A patch outlives its findings, because it is in force until somebody takes it out.
create table vm_vpatches (
  id bigint generated always as identity primary key,
  application_id bigint references vm_applications (id) on delete set null,
  rule_id integer not null,
  origin text not null check (origin in ('catalogue', 'own')),
  strategy text not null check (strategy in ('catalogue', 'positive', 'strict', 'signature')),
  cve text not null default '',
  name text not null,
  seclang text not null,
  -- the name of a site of the firewall; null: all of them
  site text,
  explanation jsonb not null default '[]',
  state text not null default 'draft' check (state in ('draft', 'active', 'proven', 'stale', 'disabled')),
  -- masked: the request that has to be refused, its variants, and those that have to go on working
  attack jsonb not null,
  attack_origin text not null,
  mutations jsonb not null default '[]',
  benign jsonb not null default '[]',
  settings_version bigint,
  generation bigint,
  -- while somebody puts it in force or proves it
  busy_until timestamptz,
  created_by text not null,
  activated_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index vm_vpatches_by_rule on vm_vpatches (rule_id) where state <> 'disabled';
create index vm_vpatches_by_application on vm_vpatches (application_id, id);
create index vm_vpatches_in_force on vm_vpatches (id) where state in ('active', 'proven', 'stale');

create table vm_vpatch_findings (
  vpatch_id bigint not null references vm_vpatches (id) on delete cascade,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  primary key (vpatch_id, finding_id)
);
create index vm_vpatch_findings_by_finding on vm_vpatch_findings (finding_id);

create table vm_vpatch_proofs (
  id bigint generated always as identity primary key,
  vpatch_id bigint not null references vm_vpatches (id) on delete cascade,
  at timestamptz not null,
  kind text not null check (kind in ('activation', 'asked', 'nightly')),
  holds boolean not null,
  reason text not null,
  -- before the patch; null where it was in force already
  before jsonb,
  after jsonb not null,
  benign jsonb not null,
  mutations jsonb not null,
  nodes jsonb not null,
  settings_version bigint not null,
  generation bigint,
  artifact_sha256 text not null,
  sha256 text not null
);
create index vm_vpatch_proofs_by_patch on vm_vpatch_proofs (vpatch_id, id desc);

-- true while a patch with a proof that holds stands before it
alter table vm_findings add column virtually_patched boolean not null default false;

create or replace function vm_note_changed_findings() returns trigger language plpgsql as $$
begin
  insert into vm_chain_changes (application_id)
    select distinct n.application_id from changed n join before o on o.id = n.id
    where (o.application_id, o.project_id, o.title, o.is_open, o.severity, o.source, o.cwes, o.vuln_ids, o.location,
        o.effective_risk, o.priority_score, o.reachable, o.exploit_confirmed, o.runtime_confirmed, o.virtually_patched)
      is distinct from (n.application_id, n.project_id, n.title, n.is_open, n.severity, n.source, n.cwes, n.vuln_ids,
        n.location, n.effective_risk, n.priority_score, n.reachable, n.exploit_confirmed, n.runtime_confirmed,
        n.virtually_patched)
    union select distinct o.application_id from changed n join before o on o.id = n.id
    where o.application_id <> n.application_id;
  return null;
end $$;
