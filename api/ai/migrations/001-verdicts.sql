-- What nodes tell of clients, one row a batch, until it is older than the window.
create table ai_batches (
  id bigint generated always as identity primary key,
  batch_id text not null unique,
  node text not null,
  at timestamptz not null,
  body text not null
);
create index ai_batches_by_time on ai_batches (at);

-- Verdicts on clients. The vector is text, so that it comes back as it went in, number by number.
create table ai_verdicts (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  last_at timestamptz not null,
  rounds integer not null,
  address text not null,
  verdict text not null,
  risk integer not null,
  confidence integer not null,
  version text not null,
  threshold integer not null,
  weights text not null,
  vector text not null,
  result text not null,
  action text not null,
  enforced text,
  enforced_until timestamptz,
  held_back text,
  marked text,
  marked_by text
);
create index ai_verdicts_by_time on ai_verdicts (at, id);
create index ai_verdicts_by_address on ai_verdicts (address, id);

-- What the leader saw in its last round: one row.
create table ai_live (
  one boolean primary key default true check (one),
  at timestamptz not null,
  body text not null
);

create table ai_baselines (
  site text primary key,
  saved_at timestamptz not null,
  body text not null
);
