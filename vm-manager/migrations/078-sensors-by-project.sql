-- A sensor's name is of its project, and not of the installation: two teams may both have an agent-1. What is of one
-- application stays one.
alter table vm_sensors drop constraint vm_sensors_name_key;
create unique index vm_sensors_by_application_and_name on vm_sensors (application_id, name);
create index vm_sensors_by_name on vm_sensors (name);
