-- What Falco and the audit logs of Kubernetes said, masked; the same within five minutes is one row. Rules of people
-- over it. And sensors that are registered: what bears their name has to be signed with their key.
create table vm_k8s_events (
  id bigint generated always as identity primary key,
  application_id bigint references vm_applications (id) on delete cascade,
  finding_id bigint references vm_findings (id) on delete set null,
  source text not null check (source in ('falco', 'audit')),
  cluster text not null default '',
  rule text not null,
  priority smallint not null,
  namespace text not null default '',
  workload text not null default '',
  pod text not null default '',
  container text not null default '',
  image text not null default '',
  verb text not null default '',
  resource text not null default '',
  username text not null default '',
  outcome text not null default '',
  output text not null default '',
  -- names of the rules of people that hold
  hits jsonb not null default '[]',
  -- what makes it the same as another one
  key text not null,
  times integer not null default 1,
  first_at timestamptz not null,
  last_at timestamptz not null,
  received_at timestamptz not null
);
create index vm_k8s_events_by_time on vm_k8s_events (last_at desc, id desc);
create index vm_k8s_events_by_key on vm_k8s_events (key, last_at desc);
create index vm_k8s_events_by_application on vm_k8s_events (application_id, last_at desc);
create index vm_k8s_events_by_finding on vm_k8s_events (finding_id) where finding_id is not null;

-- Events that were taken, by their own ids: sent again they are not counted again.
create table vm_k8s_taken (
  hash text primary key,
  event_id bigint not null references vm_k8s_events (id) on delete cascade,
  at timestamptz not null
);
create index vm_k8s_taken_by_event on vm_k8s_taken (event_id);
create index vm_k8s_taken_by_time on vm_k8s_taken (at);

create table vm_k8s_rules (
  id bigint generated always as identity primary key,
  name text not null unique,
  predicate jsonb not null,
  -- note: the event is marked; finding: it makes or finds one; proof: that one is proven, too
  effect text not null check (effect in ('note', 'finding', 'proof')),
  severity text not null default 'high' check (severity in ('critical', 'high', 'medium', 'low')),
  cwe integer,
  enabled boolean not null default true,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
insert into vm_k8s_rules (name, predicate, effect, severity, cwe, created_by, created_at, updated_at)
select name, predicate::jsonb, effect, severity, cwe, 'release', now(), now() from (values
  ('Shell in a container',
    '{"and": [{"field": "source", "op": "eq", "value": "falco"}, {"field": "rule", "op": "contains", "value": "shell"}]}',
    'finding', 'high', 78),
  ('Program that was not in the image',
    '{"field": "rule", "op": "contains", "value": "drop and execute"}', 'proof', 'critical', 94),
  ('Way out of a container',
    '{"or": [{"field": "rule", "op": "contains", "value": "escape"}, {"field": "rule", "op": "contains", "value": "release_agent"}]}',
    'proof', 'critical', 250),
  ('Metadata service of the cloud asked by a container',
    '{"and": [{"field": "rule", "op": "contains", "value": "metadata"}, {"field": "source", "op": "eq", "value": "falco"}]}',
    'proof', 'critical', 918),
  ('Command run in a pod by hand',
    '{"and": [{"field": "resource", "op": "in", "value": ["pods/exec", "pods/attach"]}, {"field": "outcome", "op": "eq", "value": "allowed"}]}',
    'note', 'medium', null),
  ('Secrets listed by a service account',
    '{"and": [{"field": "resource", "op": "eq", "value": "secrets"}, {"field": "verb", "op": "in", "value": ["list", "watch"]}, {"field": "username", "op": "contains", "value": "system:serviceaccount:"}, {"field": "outcome", "op": "eq", "value": "allowed"}]}',
    'finding', 'high', 522),
  ('Anonymous request that was allowed',
    '{"and": [{"field": "username", "op": "eq", "value": "system:anonymous"}, {"field": "outcome", "op": "eq", "value": "allowed"}, {"not": {"field": "resource", "op": "in", "value": ["/livez", "/readyz", "/healthz", "/version"]}}]}',
    'finding', 'critical', 306)
) as known (name, predicate, effect, severity, cwe);

create table vm_sensors (
  id bigint generated always as identity primary key,
  -- what events call it
  name text not null unique,
  application_id bigint not null references vm_applications (id) on delete cascade,
  language text not null default '',
  -- opens with the key of this installation only
  sealed text not null,
  key_prefix text not null,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_seen_at timestamptz,
  revoked_at timestamptz,
  revoked_by text
);
