-- The detection engine renews a measure before it ends, every few minutes where bans are short. A renewal is no event:
-- other systems hear of a measure when it begins, when it changes, and when it comes back after a pause that is longer
-- than the measure itself. What people set is an event each time.
create function siem_note_verdict() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.added_by = 'detection engine' and old.added_by = new.added_by and old.action = new.action
    and old.expires_at + (new.expires_at - new.added_at) > new.added_at
  then return null; end if;
  perform siem_note('verdict', new.added_at, to_jsonb(new));
  return null;
end $$;
drop trigger siem_after_verdicts on verdicts;
create trigger siem_after_verdicts after insert or update on verdicts
  for each row execute function siem_note_verdict();
