-- Repositories of applications, and snapshots of their code as uploads: kept in parts, so that no statement carries a
-- whole archive, and so that each control plane of a cluster can scan what another one took.
create table vm_repositories (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  name text not null,
  url text,
  default_branch text not null default 'main',
  description text not null default '',
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index vm_repositories_by_name on vm_repositories (application_id, lower(name));

create table vm_snapshots (
  id bigint generated always as identity primary key,
  repository_id bigint not null references vm_repositories (id) on delete cascade,
  -- incoming: its parts are being written; ready: they can be scanned; dropped: newer ones took its place
  state text not null default 'incoming' check (state in ('incoming', 'ready', 'dropped')),
  sha256 text not null,
  bytes bigint not null,
  form text not null,
  -- the directory that the archive puts around everything, which is no part of the paths; empty: none
  root text not null default '',
  files integer not null,
  unpacked_bytes bigint not null,
  branch text not null,
  commit text not null,
  created_by text not null,
  created_at timestamptz not null
);
create index vm_snapshots_of_repository on vm_snapshots (repository_id, id);
create index vm_snapshots_incoming on vm_snapshots (created_at) where state = 'incoming';
create table vm_snapshot_parts (
  snapshot_id bigint not null references vm_snapshots (id) on delete cascade,
  n integer not null,
  part bytea not null,
  primary key (snapshot_id, n)
);
create index vm_runs_of_snapshot on vm_runs ((input ->> 'snapshot_id')) where input ->> 'snapshot_id' is not null;
