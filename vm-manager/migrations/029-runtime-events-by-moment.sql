-- Events are listed by when they happened: sensors send them in batches, and those of one batch were received together.
create index vm_runtime_events_by_moment on vm_runtime_events (at desc, id desc);
drop index vm_runtime_events_by_application;
create index vm_runtime_events_by_application on vm_runtime_events (application_id, at desc, id desc);
