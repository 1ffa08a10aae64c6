-- Links to one event for a reader without a login. The token is not here, only its SHA-256. No foreign key to the event:
-- retention drops days as tables, and a link to an event that is gone answers as an unknown one.
create table event_shares (
  id text primary key,
  token_hash text not null unique,
  event_id bigint not null,
  event_at timestamptz not null,
  title text not null,
  created_by text not null references users (id) on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  revoked_by text,
  opened bigint not null default 0,
  last_opened_at timestamptz
);
create index event_shares_by_time on event_shares (created_at desc, id desc);
create index event_shares_by_event on event_shares (event_id);
