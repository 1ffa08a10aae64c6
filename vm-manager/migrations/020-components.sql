-- What applications are made of, as bills of material say: one row for each component of a scope (application, format,
-- branch, name), kept when it is gone, so that it is known since when and until when it was there.
create table vm_components (
  id bigint generated always as identity primary key,
  application_id bigint not null references vm_applications (id) on delete cascade,
  scope_key text not null,
  -- sha256 of purl, name and version
  key text not null,
  purl text,
  -- as a purl says: npm, pypi, deb; empty where there is none
  type text not null default '',
  name text not null,
  version text not null default '',
  licences jsonb not null default '[]',
  relation text not null default 'unknown' check (relation in ('direct', 'transitive', 'unknown')),
  -- what advisories are looked up by: ecosystem and name, one written way; null: no advisory can name it
  package text,
  first_run bigint,
  last_run bigint,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  gone_at timestamptz,
  unique (scope_key, key)
);
create index vm_components_by_application on vm_components (application_id, id);
create index vm_components_by_package on vm_components (package, application_id) where package is not null;
create index vm_components_by_name on vm_components (lower(name), id);

-- Advisories in the format of OSV, as published; a withdrawn one stays, so that an older file cannot bring it back.
create table vm_osv (
  id text primary key,
  modified timestamptz not null,
  withdrawn_at timestamptz,
  aliases jsonb not null default '[]',
  -- summary, details, cvss, severity, cwes, references
  facts jsonb not null
);
create table vm_osv_affected (
  id bigint generated always as identity primary key,
  osv_id text not null references vm_osv (id) on delete cascade,
  ecosystem text not null,
  release text not null default '',
  package text not null,
  ranges jsonb not null,
  versions jsonb not null
);
create index vm_osv_affected_by_package on vm_osv_affected (package);
create index vm_osv_affected_by_advisory on vm_osv_affected (osv_id);

-- Applications whose components, or whose advisories, changed since they were last matched.
create table vm_osv_pending (
  application_id bigint primary key references vm_applications (id) on delete cascade,
  noted_at timestamptz not null
);

alter table vm_intel_fetches drop constraint vm_intel_fetches_name_check;
alter table vm_intel_fetches add constraint vm_intel_fetches_name_check check (name in ('epss', 'kev', 'osv'));
