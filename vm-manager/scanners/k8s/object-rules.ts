// Rules about the other objects: who may do what (RBAC), networks, configuration.
import { rowOf, type Checked, type Place } from '../iac/rule.js';
import { listOf, objectOf, textOf, type Json } from '../sca/listing.js';
import { isPlaceholder, isReference, isTemplate } from '../secrets/values.js';
import type { Manifest } from './manifests.js';

const isRole = ({ kind }: Manifest): boolean => kind === 'ClusterRole' || kind === 'Role';
const texts = (value: unknown): string[] => listOf(value).map(textOf);

interface Grant {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
}

const grantOf = (rule: Json): Grant => ({
  resources: texts(rule['resources']),
  verbs: texts(rule['verbs']),
  groups: texts(rule['apiGroups']),
});

/** Where a rule of a role gives what it should not. */
const granted =
  (holds: (grant: Grant) => boolean) =>
  (manifest: Manifest): Place[] =>
    !isRole(manifest) || isOwnOfCluster(manifest)
      ? []
      : listOf(manifest.object['rules']).flatMap((value, index) =>
          holds(grantOf(objectOf(value)))
            ? [{ line: manifest.lineOf(['rules', index]), address: manifest.address }]
            : [],
        );

/** Roles that every cluster comes with. */
const isOwnOfCluster = ({ name }: Manifest): boolean => name.startsWith('system:') || name === 'cluster-admin';
const has = (all: readonly string[], ...wanted: readonly string[]): boolean =>
  all.includes('*') || wanted.some((one) => all.includes(one));

const rbac: readonly Checked<Manifest>[] = [
  rowOf({
    id: 'k8s-wildcard-role',
    knownAs: ['KSV-0044', 'KSV-0045', 'KSV-0046'],
    title: 'Role with every right',
    severity: 'high',
    cwes: [250, 269],
    why: 'Every verb on every resource: a holder of the role controls the cluster (iam wildcard).',
    fix: 'Name the resources and verbs that are needed.',
    check: granted(({ resources, verbs }) => resources.includes('*') && verbs.includes('*')),
  }),
  rowOf({
    id: 'k8s-role-secrets',
    knownAs: ['KSV-0041'],
    title: 'Role that reads all secrets',
    severity: 'high',
    cwes: [522, 269],
    why: 'Tokens of all service accounts, and all passwords, of the namespace or the cluster.',
    fix: 'Name the secrets with resourceNames, or mount them.',
    check: (manifest) =>
      granted(({ resources, verbs }) => resources.includes('secrets') && has(verbs, 'get', 'list', 'watch'))(
        manifest,
      ).filter(
        ({ line }) =>
          !listOf(manifest.object['rules']).some(
            (rule, index) =>
              manifest.lineOf(['rules', index]) === line && listOf(objectOf(rule)['resourceNames']).length > 0,
          ),
      ),
  }),
  rowOf({
    id: 'k8s-role-escalation',
    knownAs: ['KSV-0043', 'KSV-0050'],
    title: 'Role that gives rights to itself',
    severity: 'high',
    cwes: [269],
    why: 'escalate, bind and impersonate get around every other bound of RBAC.',
    fix: 'Leave these verbs to who administers the cluster.',
    check: granted(
      ({ verbs, resources }) =>
        (verbs.includes('escalate') || verbs.includes('bind') || verbs.includes('impersonate')) && resources.length > 0,
    ),
  }),
  rowOf({
    id: 'k8s-role-exec',
    knownAs: ['KSV-0053'],
    title: 'Role that runs commands in pods',
    severity: 'medium',
    cwes: [269],
    why: 'pods/exec is a login into every container, with its tokens and its data.',
    fix: 'Leave pods/exec and pods/attach out.',
    check: granted(
      ({ resources, verbs }) =>
        (resources.includes('pods/exec') || resources.includes('pods/attach')) && has(verbs, 'create', 'get'),
    ),
  }),
  rowOf({
    id: 'k8s-cluster-admin',
    knownAs: ['KSV-0111'],
    title: 'cluster-admin is given away',
    severity: 'high',
    cwes: [250, 269],
    why: 'The subject may do everything in the whole cluster.',
    fix: 'Make a role with what is needed.',
    check: (manifest) => {
      const { kind, object, address, lineOf, name } = manifest;
      const isBinding = kind === 'ClusterRoleBinding' || kind === 'RoleBinding';
      const gives = textOf(objectOf(object['roleRef'])['name']) === 'cluster-admin';
      const isOwn = listOf(object['subjects']).every((one) => textOf(objectOf(one)['name']) === 'system:masters');
      return isBinding && gives && !isOwn && name !== 'cluster-admin'
        ? [{ line: lineOf(['roleRef', 'name']), address }]
        : [];
    },
  }),
  rowOf({
    id: 'k8s-anonymous',
    title: 'Rights for everybody',
    severity: 'critical',
    cwes: [306],
    why: 'Anonymous requests, or all logged-in ones, have the role.',
    fix: 'Name the subjects.',
    check: ({ kind, object, address, lineOf, name }) =>
      kind.endsWith('RoleBinding') && !name.startsWith('system:')
        ? listOf(object['subjects']).flatMap((one, index) =>
            /^system:(?:anonymous|unauthenticated)$/.test(textOf(objectOf(one)['name']))
              ? [{ line: lineOf(['subjects', index]), address }]
              : [],
          )
        : [],
  }),
];

const secretKey = /(?:^|[_.-])(?:password|passwd|pwd|secret|token|api[_-]?key|private[_-]?key|credentials?)$/i;
const isValue = (value: string): boolean =>
  value.length >= 4 &&
  !isTemplate(value) &&
  !isReference(value) &&
  !isPlaceholder(value) &&
  !/^(?:true|false|\d{1,4})$/.test(value);

/** Keys of a ConfigMap with a secret as their value, or in the lines of it. */
function secretsIn({ kind, object, address, lineOf }: Manifest): Place[] {
  if (kind !== 'ConfigMap') return [];
  return Object.entries(objectOf(object['data'])).flatMap(([key, given]) => {
    const value = textOf(given);
    const isDirect = secretKey.test(key) && isValue(value) && !value.includes('\n');
    const isInside = [...value.matchAll(/^\s*([\w.-]{1,80})\s*[=:]\s*["']?([^\s"'#]+)["']?\s*$/gm)].some(
      ([, name = '', text = '']) => secretKey.test(name) && isValue(text),
    );
    return isDirect || isInside
      ? [{ line: lineOf(['data', key]), address, message: `ConfigMap with a secret: ${key}` }]
      : [];
  });
}

const annotated = ['auth-url', 'auth-tls-match-cn', 'mirror-target', 'mirror-host'];

const rest: readonly Checked<Manifest>[] = [
  rowOf({
    id: 'k8s-config-map-secret',
    knownAs: ['KSV-0109'],
    title: 'Secret in a ConfigMap',
    severity: 'medium',
    cwes: [312, 522],
    why: 'ConfigMaps are readable by far more than secrets, and are not encrypted at rest.',
    fix: 'Use a Secret, or a store beside the cluster.',
    check: secretsIn,
  }),
  rowOf({
    id: 'k8s-system-namespace',
    knownAs: ['KSV-0037'],
    title: 'Own workload in kube-system',
    severity: 'medium',
    cwes: [653],
    why: 'What is there is trusted by policies and by who administers the cluster.',
    fix: 'Give it a namespace of its own.',
    check: ({ kind, namespace, address, lineOf, object }) => {
      const labels = objectOf(objectOf(object['metadata'])['labels']);
      const isOwn =
        labels['tier'] === 'control-plane' ||
        textOf(labels['component']).startsWith('kube-') ||
        labels['k8s-app'] !== undefined;
      return namespace === 'kube-system' &&
        !isOwn &&
        /^(?:Pod|Deployment|StatefulSet|DaemonSet|ReplicaSet|Job|CronJob)$/.test(kind)
        ? [{ line: lineOf(['metadata', 'namespace']), address }]
        : [];
    },
  }),
  rowOf({
    id: 'k8s-network-policy-selector',
    knownAs: ['KSV-0038'],
    title: 'Network policy without a selector',
    severity: 'medium',
    cwes: [1188],
    why: 'Without podSelector the API refuses it, or it holds for other pods than meant.',
    fix: 'Write podSelector, with {} where all pods are meant.',
    check: ({ kind, object, address, lineOf }) =>
      kind === 'NetworkPolicy' && objectOf(object['spec'])['podSelector'] === undefined
        ? [{ line: lineOf(['spec']), address }]
        : [],
  }),
  rowOf({
    id: 'k8s-ingress-nginx-annotation',
    knownAs: ['KCV-0093'],
    title: 'Annotation that can carry configuration of nginx',
    severity: 'high',
    cwes: [94],
    why:
      'Control characters in these annotations became configuration of the controller (CVE-2025-1974 ' +
      'and its companions).',
    fix: 'Write plain addresses and names, and move to a version of the controller that checks them.',
    check: ({ kind, object, address, lineOf }) =>
      kind !== 'Ingress'
        ? []
        : annotated.flatMap((short) => {
            const name = `nginx.ingress.kubernetes.io/${short}`;
            const value = objectOf(objectOf(object['metadata'])['annotations'])[name];
            return typeof value === 'string' && /[\n\r;{}|#"'`]/.test(value)
              ? [{ line: lineOf(['metadata', 'annotations', name]), address }]
              : [];
          }),
  }),
  rowOf({
    id: 'k8s-open-network-policy',
    knownAs: ['KUBE-0001'],
    title: 'Network policy that lets the whole internet in',
    severity: 'high',
    cwes: [284],
    why: 'An ipBlock of every address bounds nothing.',
    fix: 'Name networks, or select pods.',
    check: ({ kind, object, address, lineOf }) =>
      kind !== 'NetworkPolicy'
        ? []
        : listOf(objectOf(object['spec'])['ingress']).flatMap((rule, index) =>
            listOf(objectOf(rule)['from']).some((from) =>
              /^(?:0\.0\.0\.0|::)\/0$/.test(textOf(objectOf(objectOf(from)['ipBlock'])['cidr'])),
            )
              ? [{ line: lineOf(['spec', 'ingress', index]), address }]
              : [],
          ),
  }),
];

export const objectRules: readonly Checked<Manifest>[] = [...rbac, ...rest];
