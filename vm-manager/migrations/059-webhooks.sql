-- A webhook is a channel of the type events with one route, so that it uses the queue of notices. Names of webhooks may
-- repeat, and are none of the names of channels and routes.
alter table vm_notice_routes add column of_webhook boolean not null default false;
alter table vm_channels drop constraint vm_channels_name_key;
create unique index vm_channels_name on vm_channels (name) where type <> 'events';
alter table vm_notice_routes drop constraint vm_notice_routes_name_key;
create unique index vm_notice_routes_name on vm_notice_routes (name) where not of_webhook;
create view vm_webhooks as
  select c.id, c.name, c.config ->> 'url' as url, r.events, r.predicate, c.enabled, c.state, c.reason, c.retry_at,
    c.created_by, c.version, c.created_at, c.updated_at
  from vm_channels c join vm_notice_routes r on r.channel_id = c.id
  where c.type = 'events';
