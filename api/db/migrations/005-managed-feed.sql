-- One network may be on several lists: who takes one list away takes that list's entry and nobody else's.
alter table threat_addresses drop constraint threat_addresses_pkey;
alter table threat_addresses add primary key (network, source);

-- The managed feed's last good copy (its networks are in threat_addresses, source 'managed') and what the last attempt said.
create table managed_feed (
  only_row boolean primary key default true check (only_row),
  -- '' is the baseline that comes with the program
  url text not null,
  attempted_at timestamptz not null,
  last_error text,
  -- where the copy in force came from; null until there is one
  copy_url text,
  fetched_at timestamptz,
  version bigint,
  name text not null default '',
  issued timestamptz,
  signed boolean not null default false,
  sha256 text not null default '',
  networks bigint not null default 0,
  networks_left_out bigint not null default 0,
  -- entries of the catalogue by id, and entries that only the feed has
  catalog_ids jsonb not null default '[]',
  patches jsonb not null default '[]',
  -- of the rules the data plane was given last; null: none
  rules_sha256 text not null default '',
  applied_rules_sha256 text
);
