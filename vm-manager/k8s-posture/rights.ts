// What the rights of a subject let it become, as rows: each says when it holds of a set of rules and what follows.
// Kubernetes' own bound against escalation (a binding gives no more than its writer has) is heeded: who may write
// bindings gains by it only with `bind` or `escalate`.

export interface RoleRule {
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  readonly groups: readonly string[];
  readonly names: readonly string[];
}

export const goals = {
  'cluster-admin': { title: 'Every right in the whole cluster', severity: 'critical' },
  admission: { title: 'Every object that is written passes its webhook', severity: 'critical' },
  node: { title: 'A node of the cluster, with all that runs there', severity: 'high' },
  secrets: { title: 'Secrets of the whole cluster, or of kube-system', severity: 'high' },
} as const;
export type Goal = keyof typeof goals;
export const goalNames = Object.keys(goals) as Goal[];

/** Where rights hold: the whole cluster, or one namespace and what it enforces of pods. */
export interface Scope {
  readonly namespace: string | null;
  /** Pods that reach the node are refused there (Pod Security Admission: baseline or restricted). */
  readonly keepsPodsOff: boolean;
}

/** What a right leads to: a goal, accounts that run, any account, accounts with a stored token, or who is named. */
export type Target =
  | { readonly goal: Goal }
  | { readonly accounts: 'any' | 'running' | 'with-token' }
  | { readonly kind: 'user' | 'group' | 'account'; readonly name: string };

export interface Escalation {
  readonly id: string;
  /** For people: the right, and what it is used for. */
  readonly by: string;
  readonly why: string;
  readonly targets: (rules: readonly RoleRule[], scope: Scope) => readonly Target[];
}

const workloads = [
  ['', 'pods'],
  ['', 'replicationcontrollers'],
  ['apps', 'deployments'],
  ['apps', 'statefulsets'],
  ['apps', 'daemonsets'],
  ['apps', 'replicasets'],
  ['batch', 'jobs'],
  ['batch', 'cronjobs'],
] as const;

const fits = (given: readonly string[], wanted: string): boolean => given.includes('*') || given.includes(wanted);

/** `pods/exec` is of `pods/*` and of `*\/exec`, too. */
function fitsResource(given: readonly string[], wanted: string): boolean {
  if (fits(given, wanted)) return true;
  const [resource, sub] = wanted.split('/');
  return sub !== undefined && (given.includes(`${resource}/*`) || given.includes(`*/${sub}`));
}

interface Wanted {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
}

const ruleGives = (rule: RoleRule, { group, resource, verbs }: Wanted): boolean =>
  fits(rule.groups, group) && fitsResource(rule.resources, resource) && verbs.some((verb) => fits(rule.verbs, verb));

/** Whether one of the verbs is given on all objects of the resource. `create` with names gives nothing. */
const has = (rules: readonly RoleRule[], group: string, resource: string, ...verbs: string[]): boolean =>
  rules.some((rule) => rule.names.length === 0 && ruleGives(rule, { group, resource, verbs }));

/** Names that one of the verbs is given on; null: all. */
function namesOf(rules: readonly RoleRule[], wanted: Wanted): readonly string[] | null {
  const giving = rules.filter((rule) => ruleGives(rule, wanted));
  return giving.some(({ names }) => names.length === 0) ? null : giving.flatMap(({ names }) => names);
}

const one = (holds: boolean, ...targets: Target[]): readonly Target[] => (holds ? targets : []);

const writesWorkloads = (rules: readonly RoleRule[]): boolean =>
  workloads.some(([group, resource]) =>
    resource === 'pods'
      ? has(rules, group, resource, 'create')
      : has(rules, group, resource, 'create', 'patch', 'update'),
  );

/** Who may be impersonated: those that are named, or all. */
function impersonated(
  rules: readonly RoleRule[],
  resource: string,
  kind: 'user' | 'group' | 'account',
): Target[] | null {
  const names = namesOf(rules, { group: '', resource, verbs: ['impersonate'] });
  return names === null ? null : names.map((name) => ({ kind, name }));
}

export const escalations: readonly Escalation[] = [
  {
    id: 'everything',
    by: 'every verb on every resource',
    why: 'a role without a bound',
    targets: (rules, { namespace }) => one(namespace === null && has(rules, '*', '*', '*'), { goal: 'cluster-admin' }),
  },
  {
    id: 'write-workloads',
    by: 'create pods, or what makes pods',
    why: 'a pod runs as any service account of its namespace, and its token is read there',
    targets: (rules) => one(writesWorkloads(rules), { accounts: 'any' }),
  },
  {
    id: 'pod-to-node',
    by: 'create pods, or what makes pods',
    why: 'nothing keeps a privileged pod, or one that mounts a directory of the node, out of the namespace',
    targets: (rules, { keepsPodsOff }) => one(writesWorkloads(rules) && !keepsPodsOff, { goal: 'node' }),
  },
  {
    id: 'exec',
    by: 'run commands in pods',
    why: 'the token of the service account lies in the container',
    targets: (rules) =>
      one(
        has(rules, '', 'pods/exec', 'create', 'get') ||
          has(rules, '', 'pods/attach', 'create', 'get') ||
          has(rules, '', 'pods/ephemeralcontainers', 'patch', 'update'),
        { accounts: 'running' },
      ),
  },
  {
    id: 'token-request',
    by: 'create serviceaccounts/token',
    why: 'a token of a service account is asked for',
    targets: (rules) => {
      const names = namesOf(rules, { group: '', resource: 'serviceaccounts/token', verbs: ['create'] });
      return names === null ? [{ accounts: 'any' }] : names.map((name) => ({ kind: 'account' as const, name }));
    },
  },
  {
    id: 'make-token-secret',
    by: 'create and read secrets',
    why: 'a secret that is made of the type of tokens is filled with one of any service account',
    targets: (rules) =>
      one(has(rules, '', 'secrets', 'create') && has(rules, '', 'secrets', 'get', 'list', 'watch'), {
        accounts: 'any',
      }),
  },
  {
    id: 'read-token-secret',
    by: 'read secrets',
    why: 'stored tokens of service accounts are among them',
    targets: (rules) => one(has(rules, '', 'secrets', 'get', 'list', 'watch'), { accounts: 'with-token' }),
  },
  {
    id: 'read-secrets',
    by: 'read secrets',
    why: 'of all namespaces, or of kube-system',
    targets: (rules, { namespace }) =>
      one((namespace === null || namespace === 'kube-system') && has(rules, '', 'secrets', 'get', 'list', 'watch'), {
        goal: 'secrets',
      }),
  },
  {
    id: 'impersonate-groups',
    by: 'impersonate groups',
    why: 'system:masters may do everything',
    targets: (rules, { namespace }) => {
      if (namespace !== null) return [];
      return impersonated(rules, 'groups', 'group') ?? [{ kind: 'group', name: 'system:masters' }];
    },
  },
  {
    id: 'impersonate-users',
    by: 'impersonate users',
    why: 'every request may be made as another user, or as a service account by its user name',
    targets: (rules, { namespace }) =>
      namespace !== null
        ? []
        : (impersonated(rules, 'users', 'user') ?? [{ accounts: 'any' }, { kind: 'user', name: '*' }]),
  },
  {
    id: 'impersonate-accounts',
    by: 'impersonate service accounts',
    why: 'every request may be made as one of them',
    targets: (rules) => impersonated(rules, 'serviceaccounts', 'account') ?? [{ accounts: 'any' }],
  },
  {
    id: 'bind',
    by: 'bind any role',
    why: 'cluster-admin may be bound to oneself',
    targets: (rules, { namespace }) => {
      const group = 'rbac.authorization.k8s.io';
      const binds = has(rules, group, 'clusterroles', 'bind') || has(rules, group, 'roles', 'bind');
      if (namespace === null)
        return one(binds && has(rules, group, 'clusterrolebindings', 'create', 'patch', 'update'), {
          goal: 'cluster-admin',
        });
      return one(binds && has(rules, group, 'rolebindings', 'create', 'patch', 'update'), { accounts: 'any' });
    },
  },
  {
    id: 'escalate',
    by: 'write roles with escalate',
    why: 'a role that one has is given every right',
    targets: (rules, { namespace }) => {
      const writes = ['create', 'update', 'patch'];
      const group = 'rbac.authorization.k8s.io';
      const may = (resource: string): boolean =>
        has(rules, group, resource, 'escalate') && has(rules, group, resource, ...writes);
      return namespace === null
        ? one(may('clusterroles'), { goal: 'cluster-admin' })
        : one(may('roles'), { accounts: 'any' });
    },
  },
  {
    id: 'node-proxy',
    by: 'nodes/proxy',
    why: "the kubelet's own interface runs commands in every pod",
    targets: (rules, { namespace }) =>
      one(namespace === null && has(rules, '', 'nodes/proxy', 'get', 'create'), { goal: 'node' }),
  },
  {
    id: 'webhooks',
    by: 'write webhooks of admission',
    why: 'a webhook sees, and changes, every object that is written',
    targets: (rules, { namespace }) =>
      one(
        namespace === null &&
          ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].some((resource) =>
            has(rules, 'admissionregistration.k8s.io', resource, 'create', 'update', 'patch'),
          ),
        { goal: 'admission' },
      ),
  },
  {
    id: 'certificates',
    by: 'approve certificate requests',
    why: 'a client certificate of any user is approved by oneself',
    targets: (rules, { namespace }) =>
      one(
        namespace === null &&
          has(rules, 'certificates.k8s.io', 'certificatesigningrequests/approval', 'update', 'patch') &&
          namesOf(rules, { group: 'certificates.k8s.io', resource: 'signers', verbs: ['approve'] })?.length !== 0,
        { goal: 'cluster-admin' },
      ),
  },
];

const rule = (groups: string[], resources: string[], verbs: string[]): RoleRule => ({
  groups,
  resources,
  verbs,
  names: [],
});
const writes = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const reads = ['get', 'list', 'watch'];
const common = ['pods', 'services', 'configmaps', 'endpoints', 'persistentvolumeclaims', 'replicationcontrollers'];
const edit: readonly RoleRule[] = [
  rule(
    [''],
    ['pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'],
    [...reads, ...writes],
  ),
  rule([''], ['serviceaccounts'], [...reads, ...writes, 'impersonate']),
  rule([''], common, [...reads, ...writes]),
  rule([''], ['serviceaccounts/token'], ['create']),
  rule(['apps', 'batch'], ['deployments', 'statefulsets', 'daemonsets', 'replicasets', 'jobs', 'cronjobs'], writes),
];

/** Roles that every cluster has, for what was scanned without them. */
export const rolesOfEveryCluster: Readonly<Record<string, readonly RoleRule[]>> = {
  'cluster-admin': [rule(['*'], ['*'], ['*'])],
  admin: [...edit, rule(['rbac.authorization.k8s.io'], ['roles', 'rolebindings'], [...reads, ...writes])],
  edit,
  view: [rule([''], common, reads)],
};
