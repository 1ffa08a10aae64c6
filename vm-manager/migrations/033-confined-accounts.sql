-- Grants add rights. Whose account role counts nowhere stands here; before, a grant did that to its user.
create table vm_confined (user_id text primary key);
alter table vm_mappings drop constraint vm_mappings_format_check,
  add constraint vm_mappings_format_check check (format in ('json', 'csv', 'xml'));
insert into vm_confined select distinct user_id from vm_grants;
