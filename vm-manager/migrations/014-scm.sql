-- Which repository belongs to which application, and what its host signs with.
create table vm_scm_hooks (
  id bigint generated always as identity primary key,
  name text not null unique,
  provider text not null check (provider in ('github', 'gitlab', 'gitea', 'bitbucket')),
  -- owner/name, in lower case
  repository text not null,
  application_id bigint not null references vm_applications (id) on delete cascade,
  -- sealed
  secret text not null,
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (provider, repository)
);

-- What came and was signed. The name of a delivery is not signed, so the same body under another name is the same one.
create table vm_scm_deliveries (
  id bigint generated always as identity primary key,
  hook_id bigint not null references vm_scm_hooks (id) on delete cascade,
  delivery text not null,
  body_sha256 text not null,
  event text not null,
  commit text,
  branch text,
  run_id bigint references vm_runs (id) on delete set null,
  at timestamptz not null,
  unique (hook_id, delivery),
  unique (hook_id, body_sha256)
);
create index vm_scm_deliveries_by_time on vm_scm_deliveries (at);
create index vm_runs_scm on vm_runs (id) where kind = 'scm' and status = 'queued';
