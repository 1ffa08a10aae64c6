-- Page 10,000 of a severity by first sight passed over two and a half million entries of the index of that order, and
-- what is past due was sorted whole. With an index that begins with the filter a page passes over what it shows and
-- nothing else. Rejected: a severity by last sight and by risk, too. A report that comes again writes to every index of
-- each of its findings, and cost a sixth more processor time with those two.
drop index vm_findings_by_severity;
create index vm_findings_by_severity on vm_findings (severity, priority_score desc, id desc)
  include (is_open, status, source, application_id, project_id);
create index vm_findings_severity_by_first_seen on vm_findings (severity, first_seen desc, id desc)
  include (is_open, status, source, application_id, project_id);
create index vm_findings_running_by_priority on vm_findings (priority_score desc, id desc)
  include (due_at, sla_start, severity, status, source, application_id, project_id)
  where is_open and due_at is not null and sla_paused_at is null;

-- Words are cut at whatever is neither letter nor digit, and a search for `file-77.ts` read each row with a 77 in it,
-- seven for one that fits. With letters in the place of the signs of paths and versions, what stands beside a sign
-- counts, too. The text that was searched for is compared as it is afterwards. Rejected: all signs; the time of
-- translate() goes with their number, and each row that is found is translated once more.
create function vm_folded(given text) returns text language sql immutable parallel safe as $$
  select translate(lower(given), '/.-_:@', 'qxzjkv')
$$;
do $$
begin
  create index vm_findings_by_folded_words on vm_findings
    using gin (vm_folded(title || ' ' || location) gin_trgm_ops);
  drop index if exists vm_findings_by_words;
exception when others then
  raise notice 'findings have no index for words: %', sqlerrm;
end $$;
