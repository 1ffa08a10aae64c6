-- Where the severity of a finding comes from: the report, an assumption because nobody knows what the report says, or a
-- person. A gate does not pass a commit with an assumed one.
alter table vm_findings
  add column severity_basis text not null default 'report' check (severity_basis in ('report', 'assumed', 'person'));
create index vm_findings_assumed on vm_findings (application_id) where severity_basis = 'assumed' and is_open;

-- What a gate does with reports that were not understood as a whole.
alter table vm_gates
  add column incomplete_reports text not null default 'fail' check (incomplete_reports in ('fail', 'allow'));
