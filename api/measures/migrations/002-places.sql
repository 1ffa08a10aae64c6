-- Measures on a country or an autonomous system: how far their networks are worked out from the files of the operator.
-- The networks themselves are rows of client_measures, of the source 'location' and with the place as instance.
create table measured_places (
  subject text not null,
  action text not null,
  -- Of the file and the decision that the networks were worked out from; '': they are being put in.
  stamp text not null,
  networks integer not null,
  -- What is wrong and what to do; null: nothing.
  problem text,
  primary key (subject, action)
);
create index client_measures_of_places on client_measures (subject)
  where subject like 'country:%' or subject like 'asn:%';
create index client_measures_of_location on client_measures (instance) where source = 'location';
