-- Matching an application with the advisories takes several transactions: the row stays until the last of them, with its
-- run. What is noted meanwhile takes the run away again, so that the row stays then, too.
alter table vm_osv_pending add column run_id bigint;
