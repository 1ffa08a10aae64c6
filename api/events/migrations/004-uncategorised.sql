-- works with release 0.1.0
-- Whether a range has events from before there were categories is asked with each count. New events are not in it.
create index security_events_uncategorised on security_events (at) where category is null;
