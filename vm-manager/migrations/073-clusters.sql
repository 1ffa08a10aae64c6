-- Clusters: what they are called, which application their workloads are of, and what the last scans of their manifests
-- said of who may do what there.
create table vm_clusters (
  id bigint generated always as identity primary key,
  name text not null unique,
  description text not null default '',
  -- [{"namespace": "shop", "workload": "web*", "application_id": "1"}], the first that fits
  application_map jsonb not null default '[]',
  -- how many of each kind
  counts jsonb not null default '{}',
  scanned_at timestamptz,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table vm_cluster_objects (
  id bigint generated always as identity primary key,
  cluster_id bigint not null references vm_clusters (id) on delete cascade,
  kind text not null check (kind in ('role', 'binding', 'workload', 'namespace', 'account', 'token')),
  -- as Kubernetes calls it
  type text not null,
  namespace text not null,
  name text not null,
  detail jsonb not null,
  seen_at timestamptz not null,
  unique (cluster_id, type, namespace, name)
);
create index vm_cluster_objects_of_cluster on vm_cluster_objects (cluster_id, id);
