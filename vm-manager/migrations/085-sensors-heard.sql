-- What a sensor says of itself, the switch that it obeys, and the key before the one it has: it is taken until then, so
-- that an application need not restart in the moment in which the key changes.
alter table vm_sensors
  add column agent_version text not null default '',
  add column runtime text not null default '',
  add column dropped integer not null default 0,
  add column is_enabled boolean not null default true,
  add column former_sealed text,
  add column former_until timestamptz;
