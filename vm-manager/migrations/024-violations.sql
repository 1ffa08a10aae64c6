-- What policies hold for: one row for each policy and finding, with since when, and when it ended. It stays when it has
-- ended, so that a notice is sent once for a policy and a finding, whatever becomes of both.
create table vm_violations (
  id bigint generated always as identity primary key,
  policy_id bigint not null references vm_policies (id) on delete cascade,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  application_id bigint not null references vm_applications (id) on delete cascade,
  since timestamptz not null,
  ended_at timestamptz,
  told_at timestamptz,
  unique (policy_id, finding_id)
);
create index vm_violations_by_finding on vm_violations (finding_id);
create index vm_violations_by_application on vm_violations (application_id, id);
create index vm_violations_by_time on vm_violations (since desc, id desc) where ended_at is null;
create index vm_violations_untold on vm_violations (policy_id, id) where told_at is null and ended_at is null;

-- How far each policy has been looked at. Between two looks at everything a round looks at what vm_chain_changes names
-- since `looked_snapshot`; null: everything is to be looked at. `looked_version` is the version that was looked at.
alter table vm_policies
  add column looked_version integer,
  add column looked_snapshot text,
  add column looked_whole_at timestamptz;
