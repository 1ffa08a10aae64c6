-- Rules of scanners may be set for one application, over what the organisation has; null: as the organisation has it.
alter table vm_scan_rules drop constraint vm_scan_rules_pkey;
alter table vm_scan_rules add column application_id bigint references vm_applications (id) on delete cascade;
alter table vm_scan_rules alter column enabled drop not null;
create unique index vm_scan_rules_by_place on vm_scan_rules (kind, rule_id, (coalesce(application_id, 0)));
create index vm_scan_rules_by_application on vm_scan_rules (application_id) where application_id is not null;

-- What a repository is fetched with: sealed, and bound to the origin of its address.
alter table vm_repositories add column credential text;
alter table vm_repositories add column credential_user text not null default '';
