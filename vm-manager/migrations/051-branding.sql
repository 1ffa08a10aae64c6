-- How the installation looks and is called; null: as its environment says (APP_BRAND and others).
create table vm_branding (
  id smallint primary key default 1 check (id = 1),
  name text,
  sub text,
  tagline text,
  accent text,
  logo bytea,
  logo_type text,
  logo_sha256 text,
  version integer not null default 1,
  updated_by text not null,
  updated_at timestamptz not null
);
