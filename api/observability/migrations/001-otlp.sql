-- How the export of traces and metrics goes: one row for each signal of OpenTelemetry. `cursor` is the last request
-- that was dealt with.
create table otel_exports (
  signal text primary key,
  cursor bigint not null default 0,
  sent bigint not null default 0,
  rejected bigint not null default 0,
  dropped bigint not null default 0,
  failures integer not null default 0,
  retry_at timestamptz,
  last_sent_at timestamptz,
  last_error text
);
