-- In which zone the console shows moments to a user; null: the usual one.
alter table users add column time_zone text check (time_zone in ('GMT+4', 'UTC', 'local'));
