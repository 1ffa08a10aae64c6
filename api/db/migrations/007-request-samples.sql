-- Ordinary requests are kept beside those of security events, each kind up to a number of its own, so that an attack
-- does not push out what says how normal traffic looks.
alter table request_samples add column kind text not null default 'event';
create index request_samples_by_kind on request_samples (kind, id);
