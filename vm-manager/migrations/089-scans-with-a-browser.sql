-- works with release 0.1.0
-- Scans open pages with scripts in a browser, unless their profile says otherwise.
alter table vm_scan_profiles add column browser boolean not null default true;
