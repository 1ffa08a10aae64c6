-- A page far into a list of one source, or of one status, passes over what does not fit, and asked of each such entry
-- whether its row is visible before it looked at the column: a column that is only included is a matter of the filter
-- behind the index, one that is part of the key is compared within it. Two million rows, 200,000 passed over by last
-- sight (PostgreSQL 15, warm, least of three, in turns): of one source of six 878 ms and then 396, of one status of
-- four 640 and 246; without a filter no slower; the index is as large as before (135 MB). Rejected: an index that
-- begins with the source (125 ms), since each of another 77 MB is written with every sighting; parallel reading, which
-- the planner does not choose in order; a place estimated from statistics, since pages would overlap or leave rows out.
-- What is replaced goes last: until then lists are read as before, also by a process of the release before that still
-- serves while nine indexes are made.
alter index vm_findings_open_by_priority rename to vm_findings_open_by_priority_replaced;
alter index vm_findings_by_first_seen rename to vm_findings_by_first_seen_replaced;
alter index vm_findings_open_by_first_seen rename to vm_findings_open_by_first_seen_replaced;
alter index vm_findings_by_last_seen rename to vm_findings_by_last_seen_replaced;
alter index vm_findings_open_by_last_seen rename to vm_findings_open_by_last_seen_replaced;
alter index vm_findings_by_risk rename to vm_findings_by_risk_replaced;
alter index vm_findings_open_by_risk rename to vm_findings_open_by_risk_replaced;
alter index vm_findings_by_due_or_never rename to vm_findings_by_due_or_never_replaced;
alter index vm_findings_open_by_due_or_never rename to vm_findings_open_by_due_or_never_replaced;
create index vm_findings_open_by_priority on vm_findings (priority_score desc, id desc, source, status, severity)
  include (application_id, project_id) where is_open;
create index vm_findings_by_first_seen on vm_findings (first_seen desc, id desc, source, status, is_open, severity)
  include (application_id, project_id);
create index vm_findings_open_by_first_seen on vm_findings (first_seen desc, id desc, source, status, severity)
  include (application_id, project_id) where is_open;
create index vm_findings_by_last_seen on vm_findings (last_seen desc, id desc, source, status, is_open, severity)
  include (application_id, project_id);
create index vm_findings_open_by_last_seen on vm_findings (last_seen desc, id desc, source, status, severity)
  include (application_id, project_id) where is_open;
create index vm_findings_by_risk on vm_findings (effective_risk desc, id desc, source, status, is_open, severity)
  include (application_id, project_id);
create index vm_findings_open_by_risk on vm_findings (effective_risk desc, id desc, source, status, severity)
  include (application_id, project_id) where is_open;
-- due_at again, as in 010
create index vm_findings_by_due_or_never
  on vm_findings (coalesce(due_at, 'infinity'::timestamptz), id, source, status, is_open, severity)
  include (due_at, application_id, project_id);
create index vm_findings_open_by_due_or_never
  on vm_findings (coalesce(due_at, 'infinity'::timestamptz), id, source, status, severity)
  include (due_at, application_id, project_id) where is_open;
drop index vm_findings_open_by_priority_replaced;
drop index vm_findings_by_first_seen_replaced;
drop index vm_findings_open_by_first_seen_replaced;
drop index vm_findings_by_last_seen_replaced;
drop index vm_findings_open_by_last_seen_replaced;
drop index vm_findings_by_risk_replaced;
drop index vm_findings_open_by_risk_replaced;
drop index vm_findings_by_due_or_never_replaced;
drop index vm_findings_open_by_due_or_never_replaced;
