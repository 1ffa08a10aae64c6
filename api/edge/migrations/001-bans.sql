-- Automatic bans of all nodes, with their reasons; they stay after their end, so that it can be seen who lifted what.
create table bans (
  id bigint generated always as identity primary key,
  network text not null,
  node text not null,
  zone text not null,
  request_id text not null,
  offence integer not null,
  threshold integer not null,
  window_seconds integer not null,
  banned_at timestamptz not null,
  expires_at timestamptz not null,
  lifted_at timestamptz,
  lifted_by text,
  unique (network, node, banned_at)
);
create index bans_by_expiry on bans (expires_at);
