-- The deny list is sent as sorted text and changed by what was touched since; both planes sort by bytes, whatever the locale.
alter table threat_addresses alter column network type text collate "C";
create index threat_addresses_by_expiry on threat_addresses (expires_at) where expires_at is not null;
-- Every network that somebody touched, in the order of commits; null: so many that looking at all is cheaper.
create table threat_changes (
  revision bigint generated always as identity primary key,
  network text collate "C"
);
