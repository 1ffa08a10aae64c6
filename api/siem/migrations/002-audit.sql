-- Entries of the audit log are events, too, while a connector asks for them by name: nothing is kept where nobody does.
create function siem_note_audit() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from settings_state s join settings_versions v on v.id = s.head_id,
      jsonb_array_elements(coalesce(v.body::jsonb -> 'siem_connectors', '[]')) c
    where coalesce((c ->> 'enabled')::boolean, true) and c -> 'options' ->> 'events' ~ '(^|[\s,])audit([\s,]|$)'
  ) then
    perform siem_note('audit', new.at, to_jsonb(new));
  end if;
  return null;
end $$;
create trigger siem_after_audit after insert on audit_entries
  for each row execute function siem_note_audit();
