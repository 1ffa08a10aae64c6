-- A virtual patch that is proven gives more time to mend its finding, once and while the proof holds. How much is a
-- matter of the policy; without one it is fourteen days. due_at holds it already.
alter table vm_sla_policies add column patched_days integer not null default 14 check (patched_days between 0 and 365);
alter table vm_findings add column sla_extended_days smallint not null default 0;
