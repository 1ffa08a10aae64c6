-- works with release 0.1.0
-- What the workbench counts events by. Filled as events are stored; null: stored before this was known.
alter table security_events
  add column category text,
  add column path_template text,
  add column country text,
  add column asn bigint;
-- Counting reads these indexes alone: rows themselves are ten to a hundred times as wide.
create index security_events_facets on security_events (at)
  include (site, category, rule_id, verdict, status, method, country, asn, client_ip, path_template);
-- Samples, spread evenly over the range: each 7th event, each 29th, ... Primes: batches have round numbers of records.
create index security_events_each_7 on security_events (at)
  include (site, category, rule_id, verdict, status, method, country, asn, client_ip, path_template) where id % 7 = 0;
create index security_events_each_29 on security_events (at)
  include (site, category, rule_id, verdict, status, method, country, asn, client_ip, path_template) where id % 29 = 0;
create index security_events_each_113 on security_events (at)
  include (site, category, rule_id, verdict, status, method, country, asn, client_ip, path_template) where id % 113 = 0;
create index security_events_each_449 on security_events (at)
  include (site, category, rule_id, verdict, status, method, country, asn, client_ip, path_template) where id % 449 = 0;
-- Few among many are found by these.
create index security_events_by_client on security_events (client_ip, at);
create index security_events_by_path on security_events (path_template, at);
create index security_events_by_rule on security_events (site, (coalesce(rule_id, 0)), at);
create index security_events_by_country on security_events (country, at) where country is not null;
create index security_events_by_asn on security_events (asn, at) where asn is not null;

-- Events of an hour by what has few values. Counted by a job from ids in their order.
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
create table event_counting (
  only_one boolean primary key default true check (only_one),
  counted_to bigint not null
);
