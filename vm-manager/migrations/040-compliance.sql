-- What people answer to controls of frameworks: attestations (a control is met, is not, or does not apply) and exceptions
-- (a gap is known and borne for a while). None is changed; a newer one takes its place, and revoked ones stay.
create table vm_compliance_answers (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('attestation', 'exception')),
  framework text not null,
  control text not null,
  -- null: for the whole organisation
  application_id bigint references vm_applications (id) on delete cascade,
  answer text check (answer in ('met', 'not_met', 'not_applicable')),
  reason text not null,
  owner text not null,
  evidence text not null default '',
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  check ((kind = 'attestation') = (answer is not null))
);
create index vm_compliance_answers_in_force on vm_compliance_answers (framework, control) where revoked_at is null;
create index vm_compliance_answers_of_application on vm_compliance_answers (application_id);
