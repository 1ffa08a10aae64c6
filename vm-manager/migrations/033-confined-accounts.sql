-- Grants add rights. Whose account role counts nowhere stands here; before, a grant did that to its user.
create table vm_confined (user_id text primary key);
insert into vm_confined select distinct user_id from vm_grants;
