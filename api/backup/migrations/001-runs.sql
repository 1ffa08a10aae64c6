-- works with release 0.1.0
-- Backups that the control plane made, or tried to: the newest hundred.
create table backup_runs (
  id bigint generated always as identity primary key,
  started_at timestamptz not null,
  -- null: it is at it, or was ended with its process
  ended_at timestamptz,
  -- who asked; null: the schedule
  actor text,
  -- what the command reports; null: none was made
  report jsonb,
  error text
);
