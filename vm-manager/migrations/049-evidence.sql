-- Packs of evidence as they were built, files that people add, and the keys that packs are signed by. Contents stand in
-- tables of their own, so that lists do not read them.
create table vm_evidence_keys (
  -- hexadecimal, of the public key
  id text primary key,
  public_key text not null,
  -- opens with the key of this installation only; the public key stays, so that older packs still verify
  sealed text not null,
  created_at timestamptz not null
);

create table vm_evidence_packs (
  id bigint generated always as identity primary key,
  title text not null,
  framework text,
  application_id bigint references vm_applications (id) on delete set null,
  sections jsonb not null,
  period_from timestamptz not null,
  period_to timestamptz not null,
  run_id bigint,
  items jsonb not null default '[]',
  -- SHA-256 of the list of sums that is signed, and of the file; null: it is being built, or that failed
  root text,
  sha256 text,
  bytes bigint,
  key_id text,
  previous text,
  keep_until timestamptz not null,
  hold boolean not null default false,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index vm_evidence_packs_by_root on vm_evidence_packs (root);
create index vm_evidence_packs_by_end on vm_evidence_packs (keep_until) where not hold;
create table vm_evidence_contents (
  pack_id bigint primary key references vm_evidence_packs (id) on delete cascade,
  content bytea not null
);

create table vm_evidence_files (
  id bigint generated always as identity primary key,
  name text not null,
  media_type text not null,
  description text not null default '',
  -- framework:number of controls that it speaks for
  controls jsonb not null default '[]',
  bytes bigint not null,
  sha256 text not null,
  keep_until timestamptz not null,
  hold boolean not null default false,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index vm_evidence_files_by_end on vm_evidence_files (keep_until) where not hold;
create table vm_evidence_file_contents (
  file_id bigint primary key references vm_evidence_files (id) on delete cascade,
  content bytea not null
);
