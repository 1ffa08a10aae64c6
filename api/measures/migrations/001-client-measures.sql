-- One table of what was decided about clients: the deny list (threat_addresses), automatic bans with their history
-- (bans), challenges and throttles (verdicts). The deny list may have a million rows, so its table is kept and widened.
alter table threat_addresses rename to client_measures;
alter table client_measures rename column network to subject;
alter table client_measures
  add column action text not null default 'deny',
  -- tells several measures of one source and action on one subject apart: bans of nodes, each with its own end
  add column instance text collate "C" not null default '',
  add column evidence jsonb,
  add column lifted_at timestamptz,
  add column lifted_by text;
alter table client_measures alter column action drop default;
create sequence client_measure_ids as bigint;
alter table client_measures add column id bigint;
alter sequence client_measure_ids owned by client_measures.id;
alter table client_measures drop constraint threat_addresses_pkey;
alter table client_measures add primary key (subject, source, action, instance);
alter index threat_addresses_by_source rename to client_measures_by_source;
alter index threat_addresses_by_expiry rename to client_measures_by_expiry;
alter table threat_changes rename to measure_changes;
alter table measure_changes rename column network to subject;

-- A ban in force whose entry was taken off the deny list was lifted; the next round of the old release would have said so.
insert into client_measures
  (subject, source, action, instance, reason, evidence, added_by, added_at, expires_at, lifted_at, lifted_by)
select b.network, 'auto-ban', 'deny', b.node || ' ' || floor(extract(epoch from b.banned_at) * 1000)::bigint,
  format('%s limited requests in %s s by %s, ban number %s, request %s',
    b.threshold, b.window_seconds, b.zone, b.offence, b.request_id),
  jsonb_build_object('node', b.node, 'zone', b.zone, 'request_id', b.request_id, 'offence', b.offence,
    'threshold', b.threshold, 'window_seconds', b.window_seconds),
  'system', b.banned_at, b.expires_at,
  case when b.lifted_at is null and b.expires_at > now() and l.subject is null then now() else b.lifted_at end,
  case when b.lifted_at is null and b.expires_at > now() and l.subject is null then 'deny list' else b.lifted_by end
from bans b
left join client_measures l on l.subject = b.network and l.source = 'auto-ban' and l.action = 'deny' and l.instance = ''
order by b.id
on conflict do nothing;
delete from client_measures l where l.source = 'auto-ban' and l.instance = '' and exists (
  select 1 from client_measures b where b.subject = l.subject and b.source = 'auto-ban' and b.instance <> '');
insert into client_measures (subject, source, action, reason, added_by, added_at, expires_at)
select network, case when added_by = 'detection engine' then 'ai' else 'manual' end, action, reason, added_by,
  added_at, expires_at
from verdicts
on conflict do nothing;
drop table bans;
drop table verdicts;

-- The order in which measures were made; only what was decided about single clients is listed by it.
update client_measures m set id = n.id
from (
  select ctid as place, nextval('client_measure_ids') as id
  from (select ctid from client_measures where source not in ('tor', 'feed', 'managed') order by added_at) o
) n
where m.ctid = n.place;
alter table client_measures alter column id set default nextval('client_measure_ids');
create index client_measures_by_id on client_measures (id) where source not in ('tor', 'feed', 'managed');
create index client_measures_by_lift on client_measures (lifted_at) where lifted_at is not null;
create index client_measures_beside_denials on client_measures (action, subject) where action <> 'deny';
analyze client_measures;

-- Other systems hear of an automatic ban, and of a measure short of a denial or on a principal, as before.
create function siem_note_measure() returns trigger language plpgsql as $$
begin
  if new.source = 'auto-ban' then
    perform siem_note('ban', new.added_at, coalesce(new.evidence, '{}') || jsonb_build_object(
      'id', new.id, 'network', new.subject, 'banned_at', new.added_at, 'expires_at', new.expires_at));
    return null;
  end if;
  -- The detection engine renews a measure before it ends: that is no event, unless it comes back after a pause that is
  -- longer than the measure itself. What people set is an event each time.
  if tg_op = 'UPDATE' and new.source = 'ai' and old.lifted_at is null
    and old.expires_at + (new.expires_at - new.added_at) > new.added_at
  then return null; end if;
  perform siem_note('verdict', new.added_at, jsonb_build_object('network', new.subject, 'action', new.action,
    'reason', new.reason, 'added_by', new.added_by, 'added_at', new.added_at, 'expires_at', new.expires_at));
  return null;
end $$;
create trigger siem_after_measures after insert on client_measures
  for each row when (new.source = 'auto-ban') execute function siem_note_measure();
create trigger siem_after_decisions after insert or update on client_measures
  for each row when (
    new.lifted_at is null and new.source in ('manual', 'ai')
    and (new.action <> 'deny' or new.subject ~ '^[a-z_]{3,}:[0-9a-f]{16}$'))
  execute function siem_note_measure();
