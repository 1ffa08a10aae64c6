-- When nodes went into attack mode and left it, with the rates that led to it.
create table attack_changes (
  id bigint generated always as identity primary key,
  node text not null,
  change text not null,
  cause text not null,
  at timestamptz not null,
  rpm double precision not null,
  baseline_rpm double precision not null,
  threshold_rpm double precision not null,
  unique (node, at, change)
);
