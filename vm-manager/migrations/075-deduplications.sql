-- What a run of deduplication has made a duplicate of what, and which state it had: so that the run can be undone.
create table vm_dedup_links (
  run_id bigint not null references vm_runs (id) on delete cascade,
  finding_id bigint not null references vm_findings (id) on delete cascade,
  canonical_id bigint not null references vm_findings (id) on delete cascade,
  before_status text not null,
  undone_at timestamptz,
  primary key (run_id, finding_id)
);
create index vm_dedup_links_by_finding on vm_dedup_links (finding_id);
create index vm_dedup_links_by_canonical on vm_dedup_links (canonical_id);
