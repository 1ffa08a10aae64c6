// Who may do what in a cluster, and what runs there, as manifests or a dump of it say: roles, bindings, accounts,
// workloads, namespaces, and which accounts have a token that is stored. Of a secret its type alone.
import { listOf, objectOf, textOf, type Json } from '../sca/listing.js';
import type { ClusterObject } from '../contract.js';
import { workloadOf, type Manifest } from './manifests.js';

/** Beyond them a role or a binding is cut, and says so. */
const partsMax = 300;
const wordsMax = 100;
const nameCharactersMax = 253;

const text = (value: unknown): string => textOf(value).slice(0, nameCharactersMax);
const texts = (value: unknown): string[] => listOf(value).slice(0, wordsMax).map(text);

const isLong = (value: unknown): boolean => listOf(value).length > partsMax;
const isWide = (value: unknown): boolean => listOf(value).length > wordsMax;

const ruleOf = (rule: Json): Json => ({
  verbs: texts(rule['verbs']),
  resources: texts(rule['resources']),
  groups: texts(rule['apiGroups']),
  names: texts(rule['resourceNames']),
});

const subjectOf = (subject: Json, own: string): Json => ({
  kind: text(subject['kind']),
  name: text(subject['name']),
  namespace: textOf(subject['kind']) === 'ServiceAccount' ? text(subject['namespace']) || own || 'default' : '',
});

const labelsOf = (value: unknown): Json =>
  Object.fromEntries(
    Object.entries(objectOf(value))
      .slice(0, 100)
      .map(([name, label]) => [name.slice(0, 300), text(label)]),
  );

/** A role that is summed up of others by their labels: a live cluster has written the sum into `rules`. */
const sumsOf = (object: Json): Json[] =>
  listOf(objectOf(object['aggregationRule'])['clusterRoleSelectors'])
    .slice(0, 50)
    .map((one) => labelsOf(objectOf(one)['matchLabels']));

function detailOf({ kind, object, namespace }: Manifest): readonly [ClusterObject['kind'], Json] | null {
  if (kind === 'ClusterRole' || kind === 'Role')
    return [
      'role',
      {
        rules: listOf(object['rules'])
          .slice(0, partsMax)
          .map((rule) => ruleOf(objectOf(rule))),
        labels: labelsOf(objectOf(object['metadata'])['labels']),
        sums: sumsOf(object),
        is_cut:
          isLong(object['rules']) || listOf(object['rules']).some((rule) => Object.values(objectOf(rule)).some(isWide)),
      },
    ];
  if (kind === 'ClusterRoleBinding' || kind === 'RoleBinding') {
    const { kind: roleKind, name } = objectOf(object['roleRef']);
    const subjects = listOf(object['subjects']).slice(0, partsMax);
    return [
      'binding',
      {
        ...{ role_kind: text(roleKind), role: text(name), is_cut: isLong(object['subjects']) },
        subjects: subjects.map((one) => subjectOf(objectOf(one), namespace)),
      },
    ];
  }
  if (kind === 'Namespace') return ['namespace', { labels: labelsOf(objectOf(object['metadata'])['labels']) }];
  if (kind === 'ServiceAccount') return ['account', {}];
  if (kind !== 'Secret' || object['type'] !== 'kubernetes.io/service-account-token') return null;
  const annotations = objectOf(objectOf(object['metadata'])['annotations']);
  return ['token', { account: text(annotations['kubernetes.io/service-account.name']) }];
}

const ofWholeCluster = new Set(['ClusterRole', 'ClusterRoleBinding', 'Namespace']);

/** What is of use for paths through the rights of a cluster, and for the picture of what runs. */
export function objectsOf(manifests: readonly Manifest[]): ClusterObject[] {
  return manifests.flatMap((manifest): ClusterObject[] => {
    const namespace = ofWholeCluster.has(manifest.kind) ? '' : manifest.namespace.slice(0, 63) || 'default';
    const place = { type: manifest.kind, namespace, name: manifest.name.slice(0, nameCharactersMax) };
    const made = detailOf(manifest);
    if (made !== null) return [{ ...place, kind: made[0], detail: made[1] }];
    const workload = workloadOf(manifest);
    if (workload === null) return [];
    // pods of a deployment are the deployment's
    if (listOf(objectOf(manifest.object['metadata'])['ownerReferences']).length > 0) return [];
    const { pod, containers } = workload;
    return [
      {
        ...place,
        kind: 'workload',
        detail: {
          account: text(pod['serviceAccountName']) || text(pod['serviceAccount']) || 'default',
          has_token: pod['automountServiceAccountToken'] !== false,
          images: containers.slice(0, 50).map(({ spec }) => textOf(spec['image']).slice(0, 500)),
        },
      },
    ];
  });
}
