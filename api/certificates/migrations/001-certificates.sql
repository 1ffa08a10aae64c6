-- Certificates of protected hosts: what is wanted, what was issued or uploaded, and how ordering goes on.
create table certificates (
  id text primary key,
  -- in small letters, sorted, with blanks between them
  names text not null,
  source text not null check (source in ('acme', 'upload')),
  challenge text not null,
  -- null: any, in the order of the environment
  directory text,
  attempts integer not null default 0,
  attempted_at timestamptz,
  -- null: nothing is to be ordered
  next_attempt_at timestamptz,
  last_error text,
  last_mend text,
  rehearsed_at timestamptz,
  -- one order at a time for these names, whichever server makes it
  locked_until timestamptz,
  locked_by text,
  -- the last warning before the end, in days
  told_days integer,
  revoked_at timestamptz,
  created_by text not null,
  created_at timestamptz not null
);
create unique index certificates_by_names on certificates (names) where revoked_at is null;
create table certificate_issues (
  id text primary key,
  certificate_id text not null references certificates (id) on delete cascade,
  chain text not null,
  key_sealed text not null,
  directory text,
  issuer text not null,
  serial text not null,
  not_before timestamptz not null,
  not_after timestamptz not null,
  issued_at timestamptz not null,
  -- new: nodes are being given it; serving: they have it; replaced, revoked: they are not given it any more
  state text not null check (state in ('new', 'serving', 'replaced', 'revoked'))
);
create index certificate_issues_by_certificate on certificate_issues (certificate_id, issued_at);
create table acme_accounts (
  directory_url text primary key,
  key_sealed text not null,
  account_url text not null,
  created_at timestamptz not null
);
-- What nodes answer to authorities while an order is open.
create table acme_challenges (
  id text primary key,
  certificate_id text not null references certificates (id) on delete cascade,
  kind text not null check (kind in ('http-01', 'tls-alpn-01')),
  name text not null,
  body text not null,
  key_sealed text,
  expires_at timestamptz not null
);
