-- Bills of material as they were sent: what each lists, and what needs what. The inventory (vm_components) is of an
-- application over time; these are single documents, to be compared, exported and walked through.
create table vm_sboms (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  name text not null,
  format text not null,
  spec_version text not null,
  -- of the document: it and its version name the same bill again
  serial text not null default '',
  bill_version text not null default '',
  sha256 text not null,
  branch text not null default '',
  commit text not null default '',
  tool text not null default '',
  -- number of the component that the bill is of; null: it does not say
  root integer,
  components integer not null,
  edges integer not null,
  run_id bigint,
  created_by text not null,
  created_at timestamptz not null
);
create index vm_sboms_by_application on vm_sboms (application_id, id);
create table vm_sbom_components (
  sbom_id bigint not null references vm_sboms (id) on delete cascade,
  n integer not null,
  name text not null,
  version text not null,
  purl text not null,
  licences jsonb not null,
  package text,
  -- numbers of the components that it needs
  needs jsonb not null,
  primary key (sbom_id, n)
);
