-- Narratives of attack chains go to the same model as questions of the assistant, and into the same log.
alter table vm_assistant_calls drop constraint vm_assistant_calls_kind_check;
alter table vm_assistant_calls add constraint vm_assistant_calls_kind_check
  check (kind in ('explain_finding', 'summarize', 'explain_chain'));
