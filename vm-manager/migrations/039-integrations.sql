-- Issue trackers: where tickets of findings go, the tickets with what is to be done with each, and what each attempt
-- has come to. The tickets are their own queue: a row that was written is worked on until it is done or refused.
create table vm_integrations (
  id bigint generated always as identity primary key,
  name text not null unique,
  type text not null,
  enabled boolean not null default true,
  config jsonb not null,
  -- sealed; it opens for this type and the origin of the address only
  secret text not null,
  state text not null default 'untested' check (state in ('untested', 'ok', 'failed')),
  reason text,
  failures integer not null default 0,
  -- nothing is sent before: the tracker was away, or asked for it
  retry_at timestamptz,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table vm_tickets (
  id bigint generated always as identity primary key,
  integration_id bigint not null references vm_integrations (id),
  -- stands in the ticket, and is searched for before one is made
  marker text not null unique,
  state text not null default 'queued' check (state in ('queued', 'open', 'closed', 'failed', 'gone')),
  -- of a ticket that stood there before, as somebody named it
  wanted_key text,
  remote_id text,
  key text,
  url text,
  remote_state text,
  -- the e-mail address that the tracker named last
  remote_assignee text,
  -- whether the ticket was last told that its findings are open, and how often it was told anything
  told_open boolean not null default true,
  told integer not null default 0,
  attempts integer not null default 0,
  last_error text,
  next_at timestamptz not null,
  lease_until timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  synced_at timestamptz
);
create index vm_tickets_due on vm_tickets (integration_id, next_at) where state in ('queued', 'open', 'closed');
create unique index vm_tickets_remote on vm_tickets (integration_id, remote_id) where remote_id is not null;

create table vm_ticket_findings (
  integration_id bigint not null,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  ticket_id bigint not null references vm_tickets (id) on delete cascade,
  primary key (integration_id, finding_id)
);
create index vm_ticket_findings_of_ticket on vm_ticket_findings (ticket_id, finding_id);
create index vm_ticket_findings_of_finding on vm_ticket_findings (finding_id);

create table vm_ticket_attempts (
  id bigint generated always as identity primary key,
  ticket_id bigint not null references vm_tickets (id) on delete cascade,
  action text not null,
  ok boolean not null,
  detail text not null,
  at timestamptz not null
);
create index vm_ticket_attempts_of_ticket on vm_ticket_attempts (ticket_id, id);

-- Comments of tickets that stand at findings already.
create table vm_ticket_comments (
  ticket_id bigint not null references vm_tickets (id) on delete cascade,
  remote_id text not null,
  primary key (ticket_id, remote_id)
);

alter table vm_transitions drop constraint vm_transitions_by_check;
alter table vm_transitions add constraint vm_transitions_by_check
  check (by in ('person', 'importer', 'proof', 'policy', 'clock', 'ticket'));
