-- When a muted finding has to be looked at again: at the end of the mute that holds longest. null: in the next round,
-- which is also where findings begin that were muted before this column was there. By it a round reads what is due and
-- not every muted finding; an organisation mutes half a million.
alter table vm_findings add column mute_check_at timestamptz;
create index vm_findings_by_mute_check on vm_findings (coalesce(mute_check_at, '-infinity'::timestamptz))
  where status = 'muted';

-- A finding that becomes muted, and a muted one of which something changed that a predicate may ask, are looked at in
-- the next round. last_seen is not among them: every import writes it, and mutes that ask for a time are looked at in
-- every round anyway. Of findings that are not muted nothing is compared.
create function vm_mute_is_due() returns trigger language plpgsql as $$
begin
  new.mute_check_at := null;
  return new;
end $$;
create trigger vm_findings_muted_changed before update on vm_findings for each row
  when (new.status = 'muted' and (old.status <> 'muted' or
    (old.application_id, old.project_id, old.title, old.severity, old.source, old.tool, old.rule_id, old.cwes,
      old.vuln_ids, old.location, old.effective_risk, old.priority_score, old.reachable, old.exploit_confirmed,
      old.runtime_confirmed, old.virtually_patched, old.kev, old.epss, old.fix_state, old.assignee_id, old.tags,
      old.first_seen, old.due_at)
    is distinct from (new.application_id, new.project_id, new.title, new.severity, new.source, new.tool, new.rule_id,
      new.cwes, new.vuln_ids, new.location, new.effective_risk, new.priority_score, new.reachable,
      new.exploit_confirmed, new.runtime_confirmed, new.virtually_patched, new.kev, new.epss, new.fix_state,
      new.assignee_id, new.tags, new.first_seen, new.due_at)))
  execute function vm_mute_is_due();
