-- Events on their way out of the room, each with what was known of it in the transaction in which it happened. A row
-- goes with the transaction that hands it over; it refers to nothing, so that it outlives the application it tells of.
create table vm_outbox (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  body jsonb not null
);
