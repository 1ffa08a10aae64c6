-- Reports on their way to mailboxes: a row for each receiver is sent, tried again, or given up. The rows are the queue,
-- and what is asked later: what was sent to whom, and when. Title and channel are kept as they were.
alter table vm_reports add column schedule_id bigint references vm_schedules (id) on delete set null;
create index vm_reports_of_schedule on vm_reports (schedule_id, id desc) where schedule_id is not null;

create table vm_report_deliveries (
  id bigint generated always as identity primary key,
  -- null: it was deleted
  report_id bigint references vm_reports (id) on delete set null,
  title text not null,
  format text not null,
  application_id bigint references vm_applications (id) on delete cascade,
  -- null: it was deleted
  channel_id bigint references vm_channels (id) on delete set null,
  channel text not null,
  recipient text not null,
  state text not null default 'queued' check (state in ('queued', 'sent', 'failed')),
  attempts integer not null default 0,
  last_error text,
  not_before timestamptz not null,
  schedule_id bigint references vm_schedules (id) on delete set null,
  created_by text not null,
  created_by_name text not null,
  created_at timestamptz not null,
  sent_at timestamptz
);
-- one mail at a time to one mailbox about one report, whoever presses twice
create unique index vm_report_deliveries_once on vm_report_deliveries (report_id, recipient) where state = 'queued';
create index vm_report_deliveries_due on vm_report_deliveries (channel_id, not_before) where state = 'queued';
create index vm_report_deliveries_of_report on vm_report_deliveries (report_id);
create index vm_report_deliveries_of_schedule on vm_report_deliveries (schedule_id) where schedule_id is not null;
create index vm_report_deliveries_by_age on vm_report_deliveries (created_at);
