-- Services of meshes, traces and clusters are known by the name or the external id of an application. Whoever edits an
-- application of theirs could take any name until here, and see whose traffic that was: where there are people or tokens
-- of a part of the organisation, names count for such people only once somebody of the whole has set them again.
alter table vm_applications add column names_confirmed boolean not null default true;
update vm_applications set names_confirmed = false
where exists (select 1 from vm_confined) or exists (select 1 from vm_tokens where application_ids is not null);
