-- the text of a token that was given a new one holds for a while, so that what uses it can be told the new one
alter table vm_tokens add column previous_hash text;
alter table vm_tokens add column previous_until timestamptz;
