-- The firewall's entry of a target is another origin: attacks go there only once it is shown to be the operator's, too.
alter table vm_targets
  add column waf_verified_at timestamptz,
  add column waf_verified_by text;
