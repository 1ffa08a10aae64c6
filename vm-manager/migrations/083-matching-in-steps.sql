-- Matching an application with the advisories takes several transactions: the row stays until the last of them, with a
-- mark of that match. What is noted meanwhile takes the mark away again, so that the row stays then, too.
alter table vm_osv_pending add column mark bigint;
