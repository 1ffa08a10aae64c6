-- Dashboards of the organisation: which metrics, drawn how. What they show is what each reader sees.
create table vm_dashboards (
  id text primary key,
  title text not null,
  description text not null default '',
  widgets jsonb not null,
  saved_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
