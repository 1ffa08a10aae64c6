-- Clients that are slowed down or challenged on all paths, until when and why. One verdict a network.
create table verdicts (
  network text primary key,
  action text not null,
  reason text not null,
  added_by text not null,
  added_at timestamptz not null,
  expires_at timestamptz not null
);
create index verdicts_by_expiry on verdicts (expires_at);
