-- Images of applications as they were looked at: what their configuration says, their layers, and the packages of each
-- layer. The archive itself is not kept. Values of the environment are not stored: they may be secrets.
create table vm_images (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  -- what its findings are told apart by: the repository of its tags
  name text not null,
  -- sha256:… of its configuration
  digest text not null,
  tags jsonb not null default '[]',
  form text not null,
  os text not null,
  architecture text not null,
  distribution text not null default '',
  config jsonb not null,
  layers jsonb not null,
  -- the lowest of them are those of the image that it was built on
  base_layers integer not null,
  base_known_by text not null check (base_known_by in ('image', 'history', 'unknown')),
  base_image_id bigint references vm_images (id) on delete set null,
  image_created_at timestamptz,
  run_id bigint,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index vm_images_by_digest on vm_images (application_id, name, digest);
create table vm_image_packages (
  image_id bigint not null references vm_images (id) on delete cascade,
  n integer not null,
  purl text not null,
  name text not null,
  version text not null,
  path text not null,
  -- from 1
  layer integer not null,
  package text,
  primary key (image_id, n)
);

-- scans of images are among the scans of reports
drop index vm_runs_by_change;
create index vm_runs_by_change on vm_runs ((coalesce(finished_at, started_at, created_at)), id)
  where kind in ('import', 'secrets', 'sast', 'sca', 'iac', 'k8s', 'container', 'dast');
create or replace view bi_scans_v1 as
select r.id, coalesce(r.finished_at, r.started_at, r.created_at) as changed_at, r.application_id, a.project_id, r.kind,
  r.status, r.created_at, r.started_at, r.finished_at,
  extract(epoch from r.finished_at - r.started_at)::double precision as seconds,
  case when r.result ->> 'created' ~ '^\d{1,9}$' then (r.result ->> 'created')::integer end as findings_new,
  case when r.result ->> 'closed' ~ '^\d{1,9}$' then (r.result ->> 'closed')::integer end as findings_closed
from vm_runs r left join vm_applications a on a.id = r.application_id
where r.kind in ('import', 'secrets', 'sast', 'sca', 'iac', 'k8s', 'container', 'dast');
