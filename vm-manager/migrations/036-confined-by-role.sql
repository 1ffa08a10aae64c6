-- Why the role of an account counts nowhere: a role of the vulnerability manager that it was given, or an administrator
-- who said so. What is given leaves with the role; what was said stays. Of the rows from before, those of accounts with
-- nothing but such a role are given.
alter table vm_confined add column by_role boolean not null default false;
update vm_confined c set by_role = true
  where exists (select 1 from vm_grants g where g.user_id = c.user_id and g.scope = 'org'
      and g.role not in ('viewer', 'operator', 'admin'))
    and not exists (select 1 from vm_grants g where g.user_id = c.user_id and g.scope <> 'org');
