-- Lists of addresses that operators of crawlers publish: the last good copy of each, and how it was fetched.
create table crawler_lists (
  url text not null,
  crawler text not null,
  attempted_at timestamptz not null,
  succeeded_at timestamptz,
  networks jsonb not null default '[]',
  last_error text,
  primary key (url, crawler)
);
