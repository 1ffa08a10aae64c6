-- Models of data flows, and the threats that rules derive of them. What people decided of a threat stays with its key,
-- also while the model does not have its subject.
create table vm_threat_models (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  name text not null,
  description text not null default '',
  -- boundaries, elements, flows, data
  dfd jsonb not null,
  format text not null default 'gatehouse' check (format in ('gatehouse', 'threagile', 'otm')),
  -- what the document said that the model does not keep
  notes jsonb not null default '[]',
  generated_at timestamptz,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (application_id, name)
);

create table vm_threats (
  id bigint generated always as identity primary key,
  model_id bigint not null references vm_threat_models (id) on delete cascade,
  -- rule/subject
  key text not null,
  rule text not null,
  stride text not null,
  title text not null,
  subject_kind text not null check (subject_kind in ('element', 'flow')),
  subject_id text not null,
  subject_name text not null,
  severity smallint not null,
  status text not null default 'open' check (status in ('open', 'mitigated', 'accepted', 'not_applicable')),
  reason text not null default '',
  -- what people say that stands against it
  control text not null default '',
  -- findings that people linked
  finding_ids jsonb not null default '[]',
  -- false: the model no longer has it
  is_current boolean not null default true,
  decided_by text,
  decided_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (model_id, key)
);
create index vm_threats_by_severity on vm_threats (model_id, severity desc, id);
