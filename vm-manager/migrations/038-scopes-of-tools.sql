-- The tool of a report is part of the scope of its import (imports/run/scope-key.ts): what earlier releases stored goes
-- to the scope of the tool that saw it last. Formats of lines, whose tools are those of the results, have no tool there.
create table vm_scopes_of_runs as
  select r.id, r.scope_key as scope_before, r.scope_key || '|' ||
    case when split_part(r.scope_key, '|', 2) in ('checkstyle', 'gcc') then ''
      else lower(regexp_replace(coalesce(r.result ->> 'tool', (
        select p.result ->> 'tool' from vm_runs p
        where p.kind = 'import' and p.scope_key = r.scope_key and p.result ->> 'tool' is not null
        order by p.id desc limit 1), ''), '\s+v?\d+(\.\d+)+.*$', '')) end || '|' as scope_after
  from vm_runs r where r.kind = 'import' and r.scope_key is not null;
create index on vm_scopes_of_runs (scope_before, id);

update vm_occurrences o set scope_key = coalesce(
  (select s.scope_after from vm_scopes_of_runs s where s.id = o.last_run and s.scope_before = o.scope_key),
  (select s.scope_after from vm_scopes_of_runs s where s.scope_before = o.scope_key order by s.id desc limit 1))
  where exists (select 1 from vm_scopes_of_runs s where s.scope_before = o.scope_key);

update vm_components c set scope_key = coalesce(
  (select s.scope_after from vm_scopes_of_runs s where s.id = c.last_run and s.scope_before = c.scope_key),
  (select s.scope_after from vm_scopes_of_runs s where s.scope_before = c.scope_key order by s.id desc limit 1))
  where exists (select 1 from vm_scopes_of_runs s where s.scope_before = c.scope_key);

update vm_runs r set scope_key = s.scope_after from vm_scopes_of_runs s where s.id = r.id;

drop table vm_scopes_of_runs;
