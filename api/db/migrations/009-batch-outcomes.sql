-- One row a batch, with how far it has come and what became of the records that are not stored, so that a batch sent again
-- gets the answer it would have got. `parts`: stored so far; null: all of them. Before, each part left a row of its own.
alter table ingest_batches add column parts integer, add column sampled_out bigint not null default 0, add column refused bigint not null default 0;
insert into ingest_batches (node, batch_id, at, parts)
  select node, regexp_replace(batch_id, '/[0-9]+$', ''), max(at), count(*) from ingest_batches where batch_id ~ '/[0-9]+$' group by 1, 2 on conflict do nothing;
delete from ingest_batches where batch_id ~ '/[0-9]+$';
