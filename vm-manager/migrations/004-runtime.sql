-- What sensors in running applications saw, masked before it is written. One event is one row, however often it is sent.
create table vm_runtime_events (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  finding_id bigint references vm_findings (id) on delete set null,
  event_key text not null unique,
  sensor_id text not null,
  request_id text,
  attack_type text not null,
  confirmed boolean not null,
  action text not null,
  method text not null default '',
  route text not null default '',
  file text not null default '',
  line integer,
  sink text not null default '',
  stack jsonb not null default '[]',
  proof jsonb not null default '{}',
  at timestamptz not null,
  received_at timestamptz not null
);
create index vm_runtime_events_by_time on vm_runtime_events (received_at desc, id desc);
create index vm_runtime_events_by_application on vm_runtime_events (application_id, received_at desc);
create index vm_runtime_events_by_finding on vm_runtime_events (finding_id) where finding_id is not null;
