-- Statements meet findings that come later, by any of their names, each looked up by itself. Without a list of what is
-- not in the index yet, which every look would read as a whole.
create index vm_vex_statements_by_alias on vm_vex_statements using gin (aliases) with (fastupdate = off);
