-- Digest of the configuration a node was last given. The version alone does not say it: sites that the settings leave to
-- the environment change with it. Null (from before): differs from everything, so the node is given its configuration once more.
alter table data_nodes add column served_config text;
