-- Facts and dimensions for reports of others, each a view with a version in its name: what a version has never changes.
-- `GET /api/v1/bi/datasets` reads the same views. Each has `id` and `changed_at`, by which what is new is found.
create index vm_findings_by_change on vm_findings (updated_at, id);
create index vm_runs_by_change on vm_runs ((coalesce(finished_at, started_at, created_at)), id)
  where kind in ('import', 'secrets', 'sast', 'sca', 'iac', 'k8s', 'dast');

create view bi_applications_v1 as
select a.id, a.updated_at as changed_at, a.id as application_id, a.project_id, a.name, p.name as project, a.environment,
  a.business_criticality as criticality, a.exposure, a.owner, a.status, a.created_at
from vm_applications a left join vm_projects p on p.id = a.project_id;

create view bi_findings_v1 as
select f.id, f.updated_at as changed_at, f.application_id, a.project_id, f.title,
  (array['info', 'low', 'medium', 'high', 'critical'])[f.severity + 1] as severity, f.status, f.is_open, f.source, f.tool,
  f.rule_id, (select string_agg('CWE-' || c, ' ') from jsonb_array_elements_text(f.cwes) c) as cwes,
  (select string_agg(v, ' ') from jsonb_array_elements_text(f.vuln_ids) v) as vuln_ids, f.location,
  f.risk_score::integer as risk_score, f.effective_risk::integer as effective_risk, f.priority_score, f.reachable,
  f.exploit_confirmed, f.runtime_confirmed, f.kev, f.epss::double precision as epss, f.fix_state, f.reopen_count,
  f.first_seen, f.last_seen, f.closed_at
from vm_findings f join vm_applications a on a.id = f.application_id;

create view bi_sla_v1 as
select f.id, f.updated_at as changed_at, f.application_id, a.project_id,
  (array['info', 'low', 'medium', 'high', 'critical'])[f.severity + 1] as severity, f.sla_class, f.sla_days,
  f.sla_start as started_at, f.due_at, f.sla_paused_at is not null as is_paused, f.is_open, f.closed_at,
  case when f.closed_at is null then null else f.closed_at <= f.due_at end as was_met
from vm_findings f join vm_applications a on a.id = f.application_id
where f.due_at is not null;

create view bi_scans_v1 as
select r.id, coalesce(r.finished_at, r.started_at, r.created_at) as changed_at, r.application_id, a.project_id, r.kind,
  r.status, r.created_at, r.started_at, r.finished_at,
  extract(epoch from r.finished_at - r.started_at)::double precision as seconds,
  case when r.result ->> 'created' ~ '^\d{1,9}$' then (r.result ->> 'created')::integer end as findings_new,
  case when r.result ->> 'closed' ~ '^\d{1,9}$' then (r.result ->> 'closed')::integer end as findings_closed
from vm_runs r left join vm_applications a on a.id = r.application_id
where r.kind in ('import', 'secrets', 'sast', 'sca', 'iac', 'k8s', 'dast');

create view bi_gates_v1 as
select g.id, g.created_at as changed_at, g.application_id, a.project_id, g.commit, g.branch, g.verdict, g.created_at
from vm_gate_evaluations g join vm_applications a on a.id = g.application_id;

create view bi_application_days_v1 as
select d.application_id as id, d.day::timestamp at time zone 'UTC' as changed_at, d.application_id, a.project_id, d.day,
  d.open_critical, d.open_high, d.open_medium, d.open_low, d.open_info, d.overdue, d.kev, d.opened, d.closed, d.fixed,
  d.reopened
from vm_app_days d join vm_applications a on a.id = d.application_id;

create view bi_gate_days_v1 as
select g.application_id as id, (g.created_at at time zone 'UTC')::date::timestamp at time zone 'UTC' as changed_at,
  g.application_id, a.project_id, (g.created_at at time zone 'UTC')::date as day,
  count(*)::integer as evaluations, (count(*) filter (where g.verdict = 'pass'))::integer as passed,
  (count(*) filter (where g.verdict = 'warn'))::integer as warned,
  (count(*) filter (where g.verdict = 'fail'))::integer as failed
from vm_gate_evaluations g join vm_applications a on a.id = g.application_id
group by g.application_id, a.project_id, (g.created_at at time zone 'UTC')::date;
