-- What every application looked like at the end of a day: posture and trends read this and never count findings. A job
-- writes it for applications about which something has changed; on a new day every row is carried on.
create table vm_app_days (
  application_id bigint not null references vm_applications (id) on delete cascade,
  day date not null,
  open_critical integer not null default 0,
  open_high integer not null default 0,
  open_medium integer not null default 0,
  open_low integer not null default 0,
  open_info integer not null default 0,
  overdue integer not null default 0,
  kev integer not null default 0,
  -- open findings by source, and of each the critical and high ones: {"sast": [12, 3]}
  sources jsonb not null default '{}',
  -- of the day: first seen or seen open again, no longer open, of these mended, open again
  opened integer not null default 0,
  closed integer not null default 0,
  fixed integer not null default 0,
  reopened integer not null default 0,
  primary key (application_id, day)
);
create index vm_app_days_by_day on vm_app_days (day, application_id);

-- How far a rollup has looked: the snapshot of its last look, and both clocks of that moment.
create table vm_rollups (
  name text primary key,
  snapshot text not null,
  -- of the server that counts
  as_of timestamptz not null,
  -- of the database, which writes vm_chain_changes
  looked_at timestamptz not null
);

-- Changes that no chain depends on, but numbers of findings do.
alter table vm_chain_changes add column for_chains boolean not null default true;
create or replace function vm_note_changed_findings() returns trigger language plpgsql as $$
begin
  insert into vm_chain_changes (application_id, for_chains)
    select n.application_id, bool_or(
        (o.application_id, o.project_id, o.title, o.is_open, o.severity, o.source, o.cwes, o.vuln_ids, o.location,
          o.effective_risk, o.priority_score, o.reachable, o.exploit_confirmed, o.runtime_confirmed)
        is distinct from (n.application_id, n.project_id, n.title, n.is_open, n.severity, n.source, n.cwes, n.vuln_ids,
          n.location, n.effective_risk, n.priority_score, n.reachable, n.exploit_confirmed, n.runtime_confirmed))
    from changed n join before o on o.id = n.id
    where (o.application_id, o.project_id, o.title, o.is_open, o.severity, o.source, o.cwes, o.vuln_ids, o.location,
        o.effective_risk, o.priority_score, o.reachable, o.exploit_confirmed, o.runtime_confirmed, o.due_at, o.kev)
      is distinct from (n.application_id, n.project_id, n.title, n.is_open, n.severity, n.source, n.cwes, n.vuln_ids,
        n.location, n.effective_risk, n.priority_score, n.reachable, n.exploit_confirmed, n.runtime_confirmed, n.due_at,
        n.kev)
    group by n.application_id
    union all select distinct o.application_id, true from changed n join before o on o.id = n.id
    where o.application_id <> n.application_id;
  return null;
end $$;
