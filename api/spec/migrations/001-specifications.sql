-- Specifications of APIs, every version that was uploaded. The settings name the versions that are in force, so a row is
-- never changed: it goes when no kept version of the settings names it.
create table api_specifications (
  id bigint generated always as identity primary key,
  site text not null,
  name text not null,
  version integer not null,
  at timestamptz not null,
  author text not null,
  -- what the document says of itself
  title text not null,
  declared_version text not null,
  openapi text not null,
  format text not null,
  operations integer not null,
  sha256 text not null,
  body text not null,
  unique (site, name, version)
);
-- The last number that was given to a name of a site.
create table api_specification_numbers (
  site text not null,
  name text not null,
  last integer not null,
  primary key (site, name)
);
