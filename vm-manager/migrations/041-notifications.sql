-- Where notices go (channels), which events become notices (routes), and the notices themselves, which are their own
-- queue: a row that was written is sent, refused for good, or tried again.
create table vm_channels (
  id bigint generated always as identity primary key,
  name text not null unique,
  type text not null,
  enabled boolean not null default true,
  config jsonb not null,
  -- sealed; it opens for this type and this receiver only
  secret text,
  quiet jsonb,
  state text not null default 'untested' check (state in ('untested', 'ok', 'failed')),
  reason text,
  failures integer not null default 0,
  retry_at timestamptz,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table vm_notice_routes (
  id bigint generated always as identity primary key,
  name text not null unique,
  channel_id bigint not null references vm_channels (id),
  events jsonb not null,
  predicate jsonb,
  digest_minutes integer not null default 0,
  cooldown_minutes integer not null default 0,
  enabled boolean not null default true,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index vm_notice_routes_of_channel on vm_notice_routes (channel_id);

create table vm_notices (
  id bigint generated always as identity primary key,
  route_id bigint not null references vm_notice_routes (id) on delete cascade,
  channel_id bigint not null references vm_channels (id) on delete cascade,
  event_id text not null,
  type text not null,
  entity text not null,
  entity_id text not null,
  severity integer,
  event jsonb not null,
  state text not null default 'queued' check (state in ('queued', 'sent', 'failed')),
  attempts integer not null default 0,
  last_error text,
  not_before timestamptz not null,
  created_at timestamptz not null,
  sent_at timestamptz,
  unique (route_id, event_id)
);
create index vm_notices_due on vm_notices (channel_id, not_before) where state = 'queued';
create index vm_notices_of_entity on vm_notices (route_id, entity, entity_id, type, created_at);
create index vm_notices_by_age on vm_notices (created_at);
