-- When each address feed was fetched last, and with what result.
create table feed_state (
  name text primary key,
  url text not null,
  attempted_at timestamptz not null,
  succeeded_at timestamptz,
  entries bigint not null default 0,
  last_error text
);
