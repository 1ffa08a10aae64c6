-- How the client shook hands (JA3 and JA4), of requests that came in over the TLS edge; null: without TLS, or before
-- this was kept. No index: lists are of a stretch of time, as for the other filters.
alter table request_records add column ja3 text, add column ja4 text;
