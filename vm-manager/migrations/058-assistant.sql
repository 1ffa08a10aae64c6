-- Whether the assistant may be asked, how much of a text it is sent, and every question with what was sent.
create table vm_assistant_settings (
  id smallint primary key default 1 check (id = 1),
  enabled boolean not null default false,
  redaction text not null default 'names' check (redaction in ('secrets', 'names')),
  updated_by text,
  updated_at timestamptz
);
insert into vm_assistant_settings default values;

create table vm_assistant_calls (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('explain_finding', 'summarize')),
  -- what was asked about
  about text not null,
  asked_by text not null,
  user_id text not null,
  model text not null,
  redaction text not null,
  -- as it went over the wire, masked before
  sent text not null,
  answered text not null default '',
  ok boolean,
  reason text not null default '',
  took_ms integer,
  created_at timestamptz not null
);
create index vm_assistant_calls_by_user on vm_assistant_calls (user_id, created_at);
create index vm_assistant_calls_by_time on vm_assistant_calls (created_at);
