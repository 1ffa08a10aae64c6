-- How each component of the installation stood when it was last looked at, and since when; and what has changed.
create table vm_health_states (
  -- what events name it by
  id bigint generated always as identity unique,
  component text primary key,
  state text not null check (state in ('ok', 'warning', 'failing', 'unknown', 'off')),
  since timestamptz not null,
  looked_at timestamptz not null
);

-- the newest thousand
create table vm_health_changes (
  id bigint generated always as identity primary key,
  component text not null,
  -- null: it was seen for the first time
  before text,
  state text not null,
  summary text not null,
  action text,
  at timestamptz not null
);
create index vm_health_changes_of_component on vm_health_changes (component, id desc);
