-- What was observed, by path as it was asked for; of each template only some paths are told apart.
create table api_cells (
  site text not null,
  method text not null,
  path text not null,
  stats text not null,
  hits bigint not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  primary key (site, method, path)
);
-- The inventory, made of the cells: one row a method and template of a site.
create table api_endpoints (
  site text not null,
  method text not null,
  template text not null,
  segments text not null,
  stats text not null,
  hits bigint not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  access text not null,
  auth text not null,
  classification text not null,
  risk double precision not null,
  band text not null,
  shadow boolean,
  primary key (site, method, template)
);
-- Of each site: whether cells came since the inventory was made of them, and what found no room.
create table api_sites (
  site text primary key,
  observed bigint not null default 0,
  folded bigint not null default 0,
  dropped bigint not null default 0
);
-- Places whose values were merged and are to be told apart.
create table api_splits (
  site text not null,
  place text not null,
  at timestamptz not null,
  author text not null,
  primary key (site, place)
);
-- What was taken already, by the id that the sender gave it.
create table api_taken (
  source text not null,
  id text not null,
  at timestamptz not null,
  primary key (source, id)
);
create index api_taken_by_time on api_taken (at);
