-- The key of the identities of findings, sealed by the server: without it a fingerprint says nothing of the secret that
-- it was made of.
create table vm_identity_key (
  id smallint primary key default 1 check (id = 1),
  sealed text not null
);
-- Rows from before have secrets in their texts, and identities without a key. imports/protect-stored.ts rewrites them in
-- batches; rows of today are written masked. The default changes afterwards, so that no row is rewritten here.
alter table vm_findings add column is_masked boolean not null default false;
alter table vm_findings alter column is_masked set default true;
create index vm_findings_unmasked on vm_findings (application_id, id) where not is_masked;
-- how far other tables were rewritten
create table vm_masked_tables (
  name text primary key,
  upto bigint not null
);
