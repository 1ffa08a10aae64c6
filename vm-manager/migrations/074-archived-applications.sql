-- Lists of what is due leave archived applications out.
create index vm_applications_archived on vm_applications (id) where status = 'archived';
