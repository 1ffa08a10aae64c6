-- A report is asked for the other names of what it found.
create index vm_osv_by_alias on vm_osv using gin (aliases);
