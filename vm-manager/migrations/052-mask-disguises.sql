-- Masks read names in letters of other scripts, parts of literals, paths and secrets of Kubernetes:
-- imports/protect-stored.ts reads all rows again, in batches.
update vm_findings set is_masked = false where is_masked;
delete from vm_masked_tables;
