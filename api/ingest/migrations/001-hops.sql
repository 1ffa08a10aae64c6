-- Service-to-service traffic: who asks whom, and how many of the requests came without an identity.
create table api_hops (
  caller text not null,
  callee text not null,
  requests bigint not null,
  unidentified bigint not null,
  failed bigint not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  primary key (caller, callee)
);
