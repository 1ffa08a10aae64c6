-- Attack waves that were sent through the data plane, with what became of them.
create table simulations (
  id bigint generated always as identity primary key,
  type text not null,
  site text not null,
  -- by whom, and whether it was part of a self-test
  started_by text not null,
  self_test bigint,
  status text not null check (status in ('running', 'ended', 'stopped', 'failed')),
  wanted jsonb not null,
  sent integer not null default 0,
  stop_requested boolean not null default false,
  started_at timestamptz not null,
  -- a server that is gone leaves an old one behind
  seen_at timestamptz not null,
  ended_at timestamptz,
  error text,
  report jsonb
);
-- one at a time in an installation: two would be measured as one
create unique index simulations_running on simulations ((status)) where status = 'running';

create table self_tests (
  id bigint generated always as identity primary key,
  site text not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- of each attack: what stopped it, and which rules saw it
  seen jsonb,
  lost jsonb,
  error text
);
