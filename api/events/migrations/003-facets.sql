-- What the workbench counts events by. Filled as events are stored; null: stored before this was known.
alter table security_events
  add column category text,
  add column path_template text,
  add column country text,
  add column asn bigint;
-- Counting reads this index alone: rows themselves are ten to a hundred times as wide.
create index security_events_facets on security_events (at)
  include (id, site, category, rule_id, verdict, status, method, country, asn, client_ip, path_template);
create index security_events_by_client on security_events (client_ip, at);

-- Events of an hour by what has few values, and of a day by what has many (of each site, and of all as `(all)`). Counted by a job from ids in their order.
create table event_hours (
  hour timestamptz not null,
  site text not null,
  category text not null,
  rule_id bigint not null,
  verdict text not null,
  status integer not null,
  n bigint not null,
  primary key (hour, site, category, rule_id, verdict, status)
);
create table event_days (
  day timestamptz not null,
  facet text not null,
  site text not null,
  value text not null,
  n bigint not null,
  primary key (facet, site, day, value)
);
create table event_counting (
  only_one boolean primary key default true check (only_one),
  counted_to bigint not null
);
