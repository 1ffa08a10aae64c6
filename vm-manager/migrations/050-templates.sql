-- Texts of tickets, notices, reports and write-ups. `parts` is null where a default has the text of the release; every
-- text that was ever saved is a version.
create table vm_templates (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('ticket', 'notice', 'report', 'finding')),
  name text not null,
  is_default boolean not null default false,
  parts jsonb,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (kind, name)
);
create unique index vm_templates_default on vm_templates (kind) where is_default;

create table vm_template_versions (
  template_id bigint not null references vm_templates (id) on delete cascade,
  version integer not null,
  parts jsonb,
  saved_by text not null,
  saved_at timestamptz not null,
  primary key (template_id, version)
);

insert into vm_templates (kind, name, is_default, created_by, created_at, updated_at)
select kind, 'Default', true, 'release', now(), now() from unnest(array['ticket', 'notice', 'report', 'finding']) kind;
insert into vm_template_versions (template_id, version, parts, saved_by, saved_at)
select id, version, parts, created_by, created_at from vm_templates;

alter table vm_notice_routes add column template_id bigint references vm_templates (id);
create index vm_notice_routes_of_template on vm_notice_routes (template_id);
