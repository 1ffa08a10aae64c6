-- What a node says of the upstreams that its sites choose among or check, as it said it last.
alter table data_nodes add column upstreams jsonb not null default '[]';
