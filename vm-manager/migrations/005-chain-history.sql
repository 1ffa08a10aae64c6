-- Chains from when to when, written by a job. A chain is named by its id and the findings that it is made of, so that
-- the same id over other findings is another chain.
create table vm_chain_history (
  id bigint generated always as identity primary key,
  chain_id text not null,
  -- in the order of the hops, joined by '>'
  hop_ids text not null,
  -- where the chain starts
  application_id bigint not null references vm_applications (id) on delete cascade,
  -- of every hop; whoever does not see one of them does not see the chain
  application_ids jsonb not null,
  kind text not null,
  name text not null,
  score smallint not null,
  danger boolean not null,
  proven_hops smallint not null,
  first_seen timestamptz not null,
  -- of its present time, or of its last one: a chain that comes back stands since then
  since timestamptz not null,
  gone_at timestamptz,
  unique (chain_id, hop_ids)
);
create index vm_chain_history_by_time on vm_chain_history (since desc, id desc);
create index vm_chain_history_by_application on vm_chain_history (application_id) where gone_at is null;
create index vm_chain_history_gone on vm_chain_history (gone_at desc, id desc) where gone_at is not null;
