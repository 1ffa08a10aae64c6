-- What principals did, as it came, until the leader has looked at it. Bounded (inventory/sightings.ts).
create table api_sightings (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  bytes integer not null,
  body text not null
);
-- Who created which object or was shown it, as keyed hashes.
create table api_ties (
  site text not null,
  noun text not null,
  label text not null,
  object text not null,
  principal text not null,
  how text not null,
  request_id text not null,
  credential text not null,
  client_ip text not null,
  at timestamptz not null,
  primary key (site, noun, object, principal)
);
create index api_ties_by_time on api_ties (at);
-- What else the evaluation has learned, as one text; `dropped`: windows that found no room.
create table api_threat_state (
  one boolean primary key default true check (one),
  body text not null default '{}',
  revision bigint not null default 0,
  dropped bigint not null default 0
);
insert into api_threat_state default values;
-- Findings. One row for what one principal does at one operation in one way, however often.
create table api_threats (
  id uuid primary key default gen_random_uuid(),
  kind text not null,
  owasp text not null,
  site text not null,
  method text not null,
  template text not null,
  principal text not null,
  credential text not null,
  client_ips text not null,
  severity text not null,
  confidence text not null,
  reason text not null,
  count bigint not null,
  evidence text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  found_at timestamptz not null,
  status text not null default 'open',
  status_by text,
  status_at timestamptz,
  status_note text,
  blocked_until timestamptz,
  block_note text,
  unique (kind, site, method, template, principal)
);
create index api_threats_by_time on api_threats (last_at, id);
