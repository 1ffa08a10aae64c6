-- What the chain engine has to look at again. Triggers write it, so that no path of code can forget to: one row for
-- each statement and application. changed_in is the writing transaction, so that a reader that knows the snapshot of
-- its last look finds exactly what was committed since, in whatever order transactions ended. Only appended to, so that
-- nobody waits for anybody; old rows are removed by a job, and who was away for longer reads everything anew.
create table vm_chain_changes (
  id bigint generated always as identity primary key,
  application_id bigint not null,
  changed_in xid8 not null default pg_current_xact_id(),
  at timestamptz not null default now()
);
create index vm_chain_changes_by_transaction on vm_chain_changes (changed_in);
create index vm_chain_changes_by_time on vm_chain_changes (at);

create function vm_note_new_findings() returns trigger language plpgsql as $$
begin
  insert into vm_chain_changes (application_id) select distinct application_id from changed;
  return null;
end $$;
create function vm_note_changed_findings() returns trigger language plpgsql as $$
begin
  insert into vm_chain_changes (application_id)
    select distinct n.application_id from changed n join before o on o.id = n.id
    where (o.application_id, o.project_id, o.title, o.is_open, o.severity, o.source, o.cwes, o.vuln_ids, o.location,
        o.effective_risk, o.priority_score, o.reachable, o.exploit_confirmed, o.runtime_confirmed)
      is distinct from (n.application_id, n.project_id, n.title, n.is_open, n.severity, n.source, n.cwes, n.vuln_ids,
        n.location, n.effective_risk, n.priority_score, n.reachable, n.exploit_confirmed, n.runtime_confirmed)
    union select distinct o.application_id from changed n join before o on o.id = n.id
    where o.application_id <> n.application_id;
  return null;
end $$;
create function vm_note_applications() returns trigger language plpgsql as $$
begin
  insert into vm_chain_changes (application_id) select id from changed;
  return null;
end $$;

create trigger vm_findings_added after insert on vm_findings
  referencing new table as changed for each statement execute function vm_note_new_findings();
create trigger vm_findings_removed after delete on vm_findings
  referencing old table as changed for each statement execute function vm_note_new_findings();
create trigger vm_findings_changed after update on vm_findings
  referencing new table as changed old table as before for each statement execute function vm_note_changed_findings();
create trigger vm_applications_added after insert on vm_applications
  referencing new table as changed for each statement execute function vm_note_applications();
create trigger vm_applications_changed after update on vm_applications
  referencing new table as changed for each statement execute function vm_note_applications();
create trigger vm_applications_removed after delete on vm_applications
  referencing old table as changed for each statement execute function vm_note_applications();
