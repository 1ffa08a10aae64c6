-- works with release 0.1.0
-- Tokens that several nodes may use, and nodes that come and go (autoscaling). An older release does not read these
-- columns: for it such a token is one for one node.

-- How many nodes may belong to the fleet by this token at once; null: one node, once.
alter table join_tokens add column nodes_max integer;
-- Minutes without contact after which such a node is left out of the fleet; null: never.
alter table join_tokens add column forget_after_minutes integer;

-- The token that several nodes may use; null: a token for one node.
alter table enrolled_nodes add column token_id text;
-- Of the key that joined: the same key may ask again, because an answer can get lost.
alter table enrolled_nodes add column key_sha256 text;
alter table enrolled_nodes add column forget_after_minutes integer;
-- Left out of the fleet since, for it was away. Its certificate is valid: when it comes back it belongs again.
alter table enrolled_nodes add column forgotten_at timestamptz;
create index enrolled_nodes_token on enrolled_nodes (token_id);
