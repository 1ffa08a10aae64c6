-- Masks read documents in documents, values of several lines of secrets of Kubernetes, blanks of forms and letters
-- that are made by chance: imports/protect-stored.ts reads all rows again, in batches.
update vm_findings set is_masked = false where is_masked;
delete from vm_masked_tables;
