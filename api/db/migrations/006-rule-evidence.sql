-- How often rules trip and how many requests exclusions apply to, by day, so that nobody counts a month of records to know it.
create table rule_hits (
  rule_id bigint not null,
  site text not null,
  day date not null,
  hits bigint not null,
  last_at timestamptz not null,
  primary key (rule_id, site, day)
);
-- A row for every day an exclusion was watched, with 0 when nobody came; ids are used again, so what it excludes is part of the key.
create table exclusion_uses (
  exclusion_id bigint not null,
  scope text not null,
  day date not null,
  requests bigint not null default 0,
  last_at timestamptz,
  primary key (exclusion_id, scope, day)
);
-- How far the counting has come (ids of request records), since when, and what it left out because too much came at once.
create table evidence_state (
  only_row boolean primary key default true check (only_row),
  since timestamptz not null,
  counted_at timestamptz not null,
  counted_to bigint not null,
  skipped bigint not null default 0
);
