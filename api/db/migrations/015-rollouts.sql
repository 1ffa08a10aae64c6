-- Rollouts ring by ring: a version is put on some nodes first, watched there, and put on the others or taken back.
create table rollouts (
  id integer generated always as identity primary key,
  status text not null check (status in ('running', 'finished', 'stopped')),
  version_id integer not null,
  artifact_sha256 text not null,
  managed_sha256 text not null,
  generation integer not null,
  -- labels `ring` in their order; what has none of them comes last
  rings jsonb not null,
  limits jsonb not null,
  -- index into rings; their number: the other nodes are being given it
  stage integer not null,
  -- addresses of the nodes that have been given it
  reached jsonb not null,
  -- counters of every node at the beginning of the stage
  baseline jsonb not null,
  -- what was last seen: figures of both groups, and what it waits for
  seen jsonb,
  started_at timestamptz not null,
  started_by text not null,
  stage_at timestamptz not null,
  ended_at timestamptz,
  reason text not null default ''
);
-- one at a time
create unique index rollouts_running on rollouts (status) where status = 'running';
