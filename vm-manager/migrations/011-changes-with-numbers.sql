-- 008 made this function anew for virtual patches and lost what 007 had added: the columns that only numbers of findings
-- depend on (due_at, kev, with for_chains false). This is the whole list again; `posture.test.ts` holds every column to it.
create or replace function vm_note_changed_findings() returns trigger language plpgsql as $$
begin
  insert into vm_chain_changes (application_id, for_chains)
    select n.application_id, bool_or(
        (o.application_id, o.project_id, o.title, o.is_open, o.severity, o.source, o.cwes, o.vuln_ids, o.location,
          o.effective_risk, o.priority_score, o.reachable, o.exploit_confirmed, o.runtime_confirmed, o.virtually_patched)
        is distinct from (n.application_id, n.project_id, n.title, n.is_open, n.severity, n.source, n.cwes, n.vuln_ids,
          n.location, n.effective_risk, n.priority_score, n.reachable, n.exploit_confirmed, n.runtime_confirmed,
          n.virtually_patched))
    from changed n join before o on o.id = n.id
    where (o.application_id, o.project_id, o.title, o.is_open, o.severity, o.source, o.cwes, o.vuln_ids, o.location,
        o.effective_risk, o.priority_score, o.reachable, o.exploit_confirmed, o.runtime_confirmed, o.virtually_patched,
        o.due_at, o.kev)
      is distinct from (n.application_id, n.project_id, n.title, n.is_open, n.severity, n.source, n.cwes, n.vuln_ids,
        n.location, n.effective_risk, n.priority_score, n.reachable, n.exploit_confirmed, n.runtime_confirmed,
        n.virtually_patched, n.due_at, n.kev)
    group by n.application_id
    union all select distinct o.application_id, true from changed n join before o on o.id = n.id
    where o.application_id <> n.application_id;
  return null;
end $$;
-- what was changed without a note since 008: everybody looks at everything once more
insert into vm_chain_changes (application_id, for_chains) select id, false from vm_applications;
