-- What the data plane reports, by day, and the list of bad addresses.
create sequence record_ids;

create table request_records (
  id bigint not null default nextval('record_ids'),
  at timestamptz not null,
  request_id text not null,
  node text not null default '',
  site text not null,
  generation bigint not null default 0,
  client_ip text not null,
  method text not null,
  uri text not null,
  status integer not null,
  verdict text not null,
  inbound_score integer not null default 0,
  outbound_score integer not null default 0,
  rule_ids jsonb not null default '[]',
  user_agent text not null default '',
  request_bytes bigint not null default 0,
  response_bytes bigint not null default 0,
  latency_us bigint not null default 0,
  inspection_us bigint not null default 0,
  primary key (at, id)
) partition by range (at);
create index request_records_by_id on request_records (id);

create table security_events (
  id bigint not null default nextval('record_ids'),
  at timestamptz not null,
  request_id text not null,
  node text not null default '',
  site text not null,
  client_ip text not null,
  kind text not null,
  verdict text not null,
  method text not null,
  uri text not null,
  status integer not null,
  rule_id bigint,
  inbound_score integer not null default 0,
  details jsonb not null default '{}',
  primary key (at, id)
) partition by range (at);
create index security_events_by_id on security_events (id);

-- A batch is stored once however often it is sent: its id and its rows are one transaction.
create table ingest_batches (
  node text not null,
  batch_id text not null,
  at timestamptz not null,
  primary key (node, batch_id)
);
create index ingest_batches_by_time on ingest_batches (at);

create table ingest_counters (
  name text primary key,
  value bigint not null
);

create table threat_addresses (
  network text primary key,
  source text not null,
  reason text not null default '',
  added_by text not null,
  added_at timestamptz not null,
  expires_at timestamptz
);
create index threat_addresses_by_source on threat_addresses (source);
