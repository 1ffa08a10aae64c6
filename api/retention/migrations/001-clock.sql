-- Until when the clock was believed, so that a clock that jumps ahead does not make everything look old at once.
create table retention_clock (
  one boolean primary key default true check (one),
  believed_at timestamptz not null,
  -- when pruning was refused first since then; null: it is not
  refused_at timestamptz
);
