-- severity_basis is a column that predicates ask for: its change is noted, and compared for muted findings.
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
        o.due_at, o.kev, o.status, o.tool, o.rule_id, o.epss, o.fix_state, o.assignee_id, o.tags, o.first_seen,
        o.severity_basis)
      is distinct from (n.application_id, n.project_id, n.title, n.is_open, n.severity, n.source, n.cwes, n.vuln_ids,
        n.location, n.effective_risk, n.priority_score, n.reachable, n.exploit_confirmed, n.runtime_confirmed,
        n.virtually_patched, n.due_at, n.kev, n.status, n.tool, n.rule_id, n.epss, n.fix_state, n.assignee_id, n.tags,
        n.first_seen, n.severity_basis)
    group by n.application_id
    union all select distinct o.application_id, true from changed n join before o on o.id = n.id
    where o.application_id <> n.application_id;
  return null;
end $$;

drop trigger vm_findings_muted_changed on vm_findings;
create trigger vm_findings_muted_changed before update on vm_findings for each row
  when (new.status = 'muted' and (old.status <> 'muted' or
    (old.application_id, old.project_id, old.title, old.severity, old.source, old.tool, old.rule_id, old.cwes,
      old.vuln_ids, old.location, old.effective_risk, old.priority_score, old.reachable, old.exploit_confirmed,
      old.runtime_confirmed, old.virtually_patched, old.kev, old.epss, old.fix_state, old.assignee_id, old.tags,
      old.first_seen, old.due_at, old.severity_basis)
    is distinct from (new.application_id, new.project_id, new.title, new.severity, new.source, new.tool, new.rule_id,
      new.cwes, new.vuln_ids, new.location, new.effective_risk, new.priority_score, new.reachable,
      new.exploit_confirmed, new.runtime_confirmed, new.virtually_patched, new.kev, new.epss, new.fix_state,
      new.assignee_id, new.tags, new.first_seen, new.due_at, new.severity_basis)))
  execute function vm_mute_is_due();
