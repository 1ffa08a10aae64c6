-- People, sessions, tokens, licence, audit chain, settings versions, job state. All times are timestamptz (UTC).
create table users (
  id text primary key,
  email text not null,
  email_key text not null unique,
  name text not null default '',
  role text not null check (role in ('admin', 'operator', 'viewer')),
  suspended boolean not null default false,
  password_hash text,
  must_change_password boolean not null default false,
  password_changed_at timestamptz,
  totp_secret text,
  totp_pending text,
  totp_last_step bigint not null default 0,
  token_version integer not null default 1,
  origin text not null default 'local' check (origin in ('local', 'sso')),
  sso_subject text unique,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_login_at timestamptz,
  revision integer not null default 1
);

create table recovery_codes (
  user_id text not null references users (id) on delete cascade,
  code_hash text not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);

create table sessions (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  source_ip text not null,
  user_agent text not null,
  method text not null
);
create index sessions_by_user on sessions (user_id, created_at);

create table login_failures (
  key text primary key,
  failures integer not null,
  last_at timestamptz not null,
  locked_until timestamptz
);

create table known_logins (
  user_id text not null references users (id) on delete cascade,
  source_ip text not null,
  last_at timestamptz not null,
  primary key (user_id, source_ip)
);

create table api_tokens (
  id text primary key,
  name text not null,
  secret_hash text not null,
  role text not null check (role in ('admin', 'operator', 'viewer')),
  scopes jsonb not null,
  created_by text references users (id) on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);

create table sso_flows (
  state_hash text primary key,
  nonce text not null,
  verifier text not null,
  return_to text not null,
  expires_at timestamptz not null
);

create table licence (
  only_row boolean primary key default true check (only_row),
  licence_key text not null,
  activated_at timestamptz not null,
  activated_by text not null
);

create table audit_entries (
  id bigint primary key,
  at timestamptz not null,
  actor text not null,
  actor_id text,
  role text not null,
  source_ip text not null,
  action text not null,
  summary text not null,
  details text not null,
  prev_hash text not null,
  hash text not null
);
create index audit_by_time on audit_entries (at);

create table audit_chain (
  only_row boolean primary key default true check (only_row),
  last_id bigint not null,
  last_hash text not null,
  anchor_id bigint not null,
  anchor_hash text not null,
  seal text not null
);

create table settings_versions (
  id bigint primary key,
  at timestamptz not null,
  author text not null,
  summary text not null,
  changes text not null,
  body text not null,
  sha256 text not null,
  artifact_sha256 text,
  generation bigint
);

create table settings_state (
  only_row boolean primary key default true check (only_row),
  head_id bigint not null,
  active_id bigint,
  pending_id bigint,
  generation bigint not null default 0
);

create table job_state (
  name text primary key,
  runs bigint not null default 0,
  failures bigint not null default 0,
  last_started_at timestamptz,
  last_ended_at timestamptz,
  last_error text,
  last_result text
);
