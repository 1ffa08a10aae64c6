-- When a sighting was gone for a while: imports between the one before and the one after have not seen it, and a gate
-- that compares with one of them takes it for new. Triples, at most 20, the last ones:
-- [last import that had it, import that has it again, when it was gone].
alter table vm_occurrences add column absences jsonb not null default '[]';
