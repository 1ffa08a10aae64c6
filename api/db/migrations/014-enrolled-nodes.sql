-- The control plane's own CA. One row: who comes second takes the first one's.
create table node_authority (
  id integer primary key check (id = 1),
  -- PEM
  certificate text not null,
  -- PKCS #8 (PEM), sealed with SETTINGS_ENCRYPTION_SECRET
  key_sealed text not null,
  created_at timestamptz not null
);

-- Nodes that enrolled. `node:NAME` is the address of one in data_nodes.
create table enrolled_nodes (
  id uuid primary key,
  name text not null,
  labels jsonb not null default '{}',
  joined_at timestamptz not null,
  -- by whose token
  joined_by text not null,
  revoked_at timestamptz
);
create unique index enrolled_nodes_name on enrolled_nodes (name) where revoked_at is null;

-- Every certificate that was issued to a node and has not been cleared away since its end.
create table node_certificates (
  -- hexadecimal
  serial text primary key,
  node_id uuid not null references enrolled_nodes (id) on delete cascade,
  issued_at timestamptz not null,
  expires_at timestamptz not null
);
create index node_certificates_node on node_certificates (node_id);

-- One-time tokens. The secret is stored as its SHA-256.
create table join_tokens (
  id text primary key,
  secret_sha256 text not null,
  labels jsonb not null default '{}',
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- of the key that used it: the same key may ask again, because an answer can get lost
  used_by_key text,
  node_id uuid references enrolled_nodes (id)
);

-- What a node says of itself beside what it serves: release, draining, load. Null: a node of an earlier release.
alter table data_nodes add column facts jsonb;
