-- What others, or people here, say of vulnerabilities in products, and what became of each: a row for each application
-- that it met, and one without an application where it met none.
create table vm_vex_statements (
  id bigint generated always as identity primary key,
  application_id bigint references vm_applications (id) on delete cascade,
  vulnerability text not null,
  aliases jsonb not null default '[]',
  product text not null default '',
  status text not null check (status in ('affected', 'not_affected', 'fixed', 'under_investigation')),
  justification text,
  statement text not null default '',
  source text not null check (source in ('openvex', 'csaf', 'cyclonedx', 'person')),
  document text not null default '',
  author text not null default '',
  matched integer not null,
  changed integer not null,
  conflicts integer not null,
  stated_at timestamptz,
  created_by text not null,
  created_at timestamptz not null
);
create index vm_vex_statements_by_application on vm_vex_statements (application_id, id);
create index vm_vex_statements_by_vulnerability on vm_vex_statements (vulnerability, id);
