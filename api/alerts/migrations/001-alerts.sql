-- Alert rules, their state, and what is to be told to whom.
create table alert_rules (
  id uuid primary key default gen_random_uuid(),
  name text not null unique,
  enabled boolean not null,
  metric text not null,
  comparison text not null,
  threshold double precision not null,
  window_min integer not null,
  for_min integer not null,
  cooldown_min integer not null,
  repeats boolean not null,
  site text,
  severity text not null,
  type text not null,
  target_sealed text not null,
  secret_sealed text,
  endpoint text not null default '',
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Kept over restarts, so that a restart tells nobody anything again.
create table alert_states (
  rule_id uuid primary key references alert_rules on delete cascade,
  state text not null,
  since timestamptz not null,
  told_at timestamptz,
  evaluated_at timestamptz not null,
  value double precision,
  error text
);

create table alert_history (
  id bigint generated always as identity primary key,
  rule_id uuid not null references alert_rules on delete cascade,
  at timestamptz not null,
  from_state text not null,
  to_state text not null,
  value double precision
);
create index alert_history_by_rule on alert_history (rule_id, id);

create table alert_notices (
  id bigint generated always as identity primary key,
  rule_id uuid not null references alert_rules on delete cascade,
  action text not null,
  at timestamptz not null,
  value double precision,
  attempts integer not null default 0,
  retry_at timestamptz not null,
  ended_at timestamptz,
  outcome text
);
create index alert_notices_by_rule on alert_notices (rule_id, id);
create index alert_notices_open on alert_notices (id) where ended_at is null;

-- Requests in stretches of ten seconds, counted as they come in: a rule over a day costs no more than one over a minute.
create table alert_counts (
  slot timestamptz not null,
  site text not null,
  requests bigint not null,
  blocked bigint not null,
  errors bigint not null,
  primary key (slot, site)
);
create table alert_cursor (
  only_row boolean primary key default true check (only_row),
  counted_to bigint not null
);
