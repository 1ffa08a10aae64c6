-- What a version was applied with stays with it, so that bringing it back needs neither the feed of today nor luck: the
-- rules that the managed feed delivered, by the hash of their content. '' is none; null is from before this was kept.
create table managed_rule_sets (
  sha256 text primary key,
  catalog_ids jsonb not null,
  patches jsonb not null
);
alter table settings_versions add column managed_sha256 text;

-- An activation on its way has its own artifact and rules until it is through: one that fails leaves those of the version
-- that serves alone, also where both are the same version (applied again because the feed had brought something).
alter table settings_state add column pending_artifact_sha256 text;
alter table settings_state add column pending_managed_sha256 text;
update settings_state s set pending_artifact_sha256 = (select v.artifact_sha256 from settings_versions v where v.id = s.pending_id);

insert into managed_rule_sets (sha256, catalog_ids, patches) select rules_sha256, catalog_ids, patches from managed_feed where rules_sha256 <> '' and rules_sha256 = applied_rules_sha256;
update settings_versions set managed_sha256 = (select applied_rules_sha256 from managed_feed) where id in (select active_id from settings_state);
-- of an apply that came before the job had looked: nothing is known of the feed yet
delete from managed_feed where copy_url is null and attempted_at = to_timestamp(0);
alter table managed_feed drop column applied_rules_sha256;
