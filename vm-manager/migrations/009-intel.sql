-- Which day a set is of: an older file must not take the place of a newer one.
alter table vm_feeds add column set_date date;
