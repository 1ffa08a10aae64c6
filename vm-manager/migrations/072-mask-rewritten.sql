-- Masks read a secret that a tool names in every encoding, passwords of `net use` and other commands at any place, and
-- bills of material: imports/protect-stored.ts reads all rows again, in batches.
alter table vm_sbom_components add column id bigint generated always as identity;
create unique index vm_sbom_components_by_id on vm_sbom_components (id);
update vm_findings set is_masked = false where is_masked;
delete from vm_masked_tables;
