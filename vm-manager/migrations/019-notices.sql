-- What was said of a deadline stands beside it, so that it is said once, whoever looks and however often, and whatever
-- is removed from vm_events. 0: nothing yet, 1: that it is at risk, 2: that it was missed.
alter table vm_findings add column sla_told smallint not null default 0 check (sla_told between 0 and 2);

-- When the next word about a deadline is due: with a fifth of its time left, then at its end. Seconds are counted and
-- never days, so that no time zone is asked; an expression, so that no row of a large table is written anew for it.
create function vm_sla_notice_at(due timestamptz, started timestamptz, told smallint) returns timestamptz
  language sql immutable parallel safe as $$
    select case told
      when 0 then to_timestamp(
        extract(epoch from due - timestamptz '1970-01-01 00:00:00+00')::float8
          - extract(epoch from due - started)::float8 / 5)
      when 1 then due end
  $$;
create index vm_findings_by_sla_notice on vm_findings (vm_sla_notice_at(due_at, sla_start, sla_told))
  where is_open and due_at is not null and sla_told < 2;

-- A clock that begins anew has its own words.
create function vm_begin_clock() returns trigger language plpgsql as $$
begin
  new.sla_told := 0;
  return new;
end $$;
create trigger vm_findings_clock_began before update of sla_start on vm_findings for each row
  when (old.sla_start is distinct from new.sla_start) execute function vm_begin_clock();

-- The same for acceptances: their event was what told that it had been said, and events are removed now.
alter table vm_acceptances add column end_told_at timestamptz;
update vm_acceptances a set end_told_at = e.at from vm_events e where e.unique_key = 'acceptance.expiring:' || a.id;

-- What was removed of vm_events: one row. `through` is the highest id that is gone.
create table vm_event_pruning (
  is_only boolean primary key default true check (is_only),
  through bigint not null,
  removed bigint not null,
  last_at timestamptz not null
);
