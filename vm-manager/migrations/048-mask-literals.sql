-- Masks read literals of further languages and quotation marks of HTML: imports/protect-stored.ts reads all rows again,
-- in batches.
update vm_findings set is_masked = false where is_masked;
delete from vm_masked_tables;
