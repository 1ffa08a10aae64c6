-- Reports as they were built. A report shows what its builder may see, so that only they, and who sees everything,
-- read it.
create table vm_reports (
  id bigint generated always as identity primary key,
  title text not null,
  scope jsonb not null,
  sections jsonb not null,
  format text not null check (format in ('html', 'pdf', 'csv', 'json')),
  application_id bigint references vm_applications (id) on delete cascade,
  created_by text not null,
  created_by_name text not null,
  created_at timestamptz not null
);
create index vm_reports_by_creator on vm_reports (created_by, id desc);
create table vm_report_contents (
  report_id bigint primary key references vm_reports (id) on delete cascade,
  content bytea not null
);
