-- works with release 0.1.0
-- When each user wrote last, by the clock of the database: who did so reads from a replica only when that has it.
create table vm_last_writes (
  user_id text primary key,
  at timestamptz not null
);
