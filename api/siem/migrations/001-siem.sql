-- Security events on their way to other systems. An event goes into the outbox in the transaction that stores it, by
-- triggers, so that neither is ever there without the other, whoever writes it.

-- One row for every connector that the settings ever named. `position` is the last event that it has taken.
create table siem_connectors (
  name text primary key,
  enabled boolean not null,
  position bigint not null default 0,
  failures integer not null default 0,
  retry_at timestamptz,
  last_error text,
  last_error_at timestamptz,
  last_delivered_at timestamptz,
  delivered bigint not null default 0,
  expired bigint not null default 0
);

create sequence siem_positions;

-- `position` is given by the one server that delivers, after the commit: numbers that are taken before a commit become
-- visible in another order, and a reader that follows them would skip events.
create table siem_outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null default gen_random_uuid(),
  position bigint unique,
  kind text not null,
  at timestamptz not null,
  body jsonb not null
);
create index siem_outbox_unplaced on siem_outbox (id) where position is null;
create index siem_outbox_by_time on siem_outbox (at);

-- What a connector refused for good: it is kept with the reason, and can be sent again.
create table siem_dead_letters (
  id bigint generated always as identity primary key,
  connector text not null references siem_connectors on delete cascade,
  position bigint not null,
  event_id uuid not null,
  kind text not null,
  at timestamptz not null,
  body jsonb not null,
  reason text not null,
  died_at timestamptz not null,
  retry boolean not null default false,
  unique (connector, event_id)
);

-- Ranges that somebody asked to have sent again, each with how far it has come.
create table siem_replays (
  id bigint generated always as identity primary key,
  connector text not null references siem_connectors on delete cascade,
  next_position bigint not null,
  last_position bigint not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  asked_by text not null,
  asked_at timestamptz not null,
  ended_at timestamptz
);

-- Nothing is kept where nobody wants it.
create function siem_note(given_kind text, given_at timestamptz, given_body jsonb) returns void language sql as $$
  insert into siem_outbox (kind, at, body) select given_kind, given_at, given_body
  where exists (select 1 from siem_connectors where enabled)
$$;

create function siem_note_events() returns trigger language plpgsql as $$
begin
  if exists (select 1 from siem_connectors where enabled) then
    insert into siem_outbox (kind, at, body) select 'record', at, to_jsonb(fresh) from fresh order by id;
  end if;
  return null;
end $$;
create trigger siem_after_events after insert on security_events referencing new table as fresh
  for each statement execute function siem_note_events();

create function siem_note_row() returns trigger language plpgsql as $$
begin
  perform siem_note(tg_argv[0], coalesce((to_jsonb(new) ->> tg_argv[1])::timestamptz, now()), to_jsonb(new));
  return null;
end $$;
create trigger siem_after_bans after insert on bans
  for each row execute function siem_note_row('ban', 'banned_at');
create trigger siem_after_verdicts after insert or update on verdicts
  for each row execute function siem_note_row('verdict', 'added_at');

-- The connectors of the settings in force, with the transaction that saves them: what happens after it is delivered.
-- One that was off begins with what comes now; what was before can be replayed.
create function siem_take_settings() returns trigger language plpgsql as $$
declare
  settings jsonb := (select body::jsonb from settings_versions where id = new.head_id);
  wanted text[] := array(
    select one ->> 'name' from jsonb_array_elements(coalesce(settings -> 'siem_connectors', '[]')) one
    where coalesce((one ->> 'enabled')::boolean, true)
    union select '_siem_webhook_url' where coalesce(settings ->> 'siem_webhook_url', '') <> '');
begin
  update siem_connectors set enabled = false where enabled and name <> all (wanted);
  insert into siem_connectors (name, enabled, position)
    select name, true, coalesce((select max(position) from siem_outbox), 0) from unnest(wanted) name
  on conflict (name) do update set enabled = true, failures = 0, retry_at = null,
    position = case when siem_connectors.enabled then siem_connectors.position else excluded.position end;
  return null;
end $$;
create trigger siem_after_settings after insert or update of head_id on settings_state
  for each row execute function siem_take_settings();

-- An installation that had connectors before this release.
update settings_state set head_id = head_id;
