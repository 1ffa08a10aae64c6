-- Directories that were taken for the repository and were a part of it (imports/roots/lift-stored.ts). Keys of findings
-- and sightings from before end with `^` and the number of the row, until a report has them again.
create table vm_lifts (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  scope_key text not null,
  prefix text not null,
  at timestamptz not null
);
create index vm_lifts_by_application on vm_lifts (application_id, id);
