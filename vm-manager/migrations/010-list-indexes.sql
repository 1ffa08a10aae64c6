-- Indexes of lists of millions of findings. Who asks for page 10,000 passes over half a million entries: with the
-- columns of the common filters inside, none of them is looked up in the table. last_seen has none on purpose: every
-- import of the same report writes it to every row, and a row whose indexed columns stay is written without touching
-- an index.
drop index vm_findings_open_by_priority;
create index vm_findings_open_by_priority on vm_findings (priority_score desc, id desc)
  include (severity, status, source, application_id, project_id) where is_open;
drop index vm_findings_by_project;
create index vm_findings_by_project on vm_findings (project_id, priority_score desc, id desc)
  include (is_open, severity, status, source, application_id);
drop index vm_findings_by_first_seen;
create index vm_findings_by_first_seen on vm_findings (first_seen desc, id desc)
  include (is_open, severity, status, source, application_id, project_id);
create index vm_findings_by_risk on vm_findings (effective_risk desc, id desc)
  include (is_open, severity, status, source, application_id, project_id);
create index vm_findings_by_gravity on vm_findings (severity desc, id desc)
  include (is_open, status, source, application_id, project_id);
-- due_at again: the planner asks the index alone only where it also has the column of the expression
create index vm_findings_by_due_or_never on vm_findings (coalesce(due_at, 'infinity'::timestamptz), id)
  include (due_at, is_open, severity, status, source, application_id, project_id);
create index vm_findings_known_exploited on vm_findings (priority_score desc, id desc) where is_open and kev;
create index vm_findings_by_weakness on vm_findings using gin (cwes jsonb_path_ops);

-- Words anywhere in title and location. The extension comes with PostgreSQL; the embedded database has none, and where
-- the database's owner may not create it a search reads every row, as before.
do $$
begin
  create extension if not exists pg_trgm;
  create index vm_findings_by_words on vm_findings using gin ((title || ' ' || location) gin_trgm_ops);
exception when others then
  raise notice 'findings have no index for words: %', sqlerrm;
end $$;
