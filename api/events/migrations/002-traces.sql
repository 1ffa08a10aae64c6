-- Identifiers and stages of requests that were chosen to become a trace; null: any other. The index has those alone.
alter table request_records add column trace jsonb;
create index request_records_traced on request_records (id) where trace is not null;
