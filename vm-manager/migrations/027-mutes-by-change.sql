-- Every column that a predicate may ask for is one whose change is noted, but last_seen: every import writes it, and
-- who asks for a time looks at everything in each round. What is new in the list does not concern chains.
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
        o.due_at, o.kev, o.status, o.tool, o.rule_id, o.epss, o.fix_state, o.assignee_id, o.tags, o.first_seen)
      is distinct from (n.application_id, n.project_id, n.title, n.is_open, n.severity, n.source, n.cwes, n.vuln_ids,
        n.location, n.effective_risk, n.priority_score, n.reachable, n.exploit_confirmed, n.runtime_confirmed,
        n.virtually_patched, n.due_at, n.kev, n.status, n.tool, n.rule_id, n.epss, n.fix_state, n.assignee_id, n.tags,
        n.first_seen)
    group by n.application_id
    union all select distinct o.application_id, true from changed n join before o on o.id = n.id
    where o.application_id <> n.application_id;
  return null;
end $$;

-- How far open findings have been asked for each mute: what vm_chain_changes names since that snapshot is asked again.
-- null: all of them.
alter table vm_mutes add column looked_snapshot text, add column looked_at timestamptz;
