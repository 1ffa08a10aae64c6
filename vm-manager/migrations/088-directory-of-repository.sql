-- works with release 0.1.0
-- The part of a repository that belongs to its application; empty: all of it.
alter table vm_repositories add column directory text not null default '';
