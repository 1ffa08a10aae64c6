// The base of kustomize, made of the chart with its default values: the same objects without what only helm reads.
// `UPDATE=1 node build/deploy/cluster/kustomize.test.js` writes it.
import { basename } from 'node:path';
import { documentsOf, isManifest, type KubernetesObject, type Rendering } from './chart.js';

const head =
  '# Generated from the chart (deploy/helm/gatehouse): UPDATE=1 node build/deploy/cluster/kustomize.test.js\n';

/** `data-plane-deployment.yaml` of `templates/data-plane/deployment.yaml`. */
const fileOf = (path: string): string => path.replace(/^templates\//, '').replaceAll('/', '-');

const withoutHelm = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !/^\s*helm\.sh\//.test(line) && line.trim() !== '')
    .map((line) => line.replace('app.kubernetes.io/managed-by: Helm', 'app.kubernetes.io/managed-by: kustomize'))
    .join('\n')
    .replace(/^(?:---\n)+/, '');

/** Name of each file → its text. */
export function kustomizeFiles(rendering: Rendering): ReadonlyMap<string, string> {
  const files = Object.entries(rendering).filter(
    ([path, text]) => isManifest(path) && !path.includes('/tests/') && documentsOf(text).length > 0,
  );
  return new Map(files.map(([path, text]) => [fileOf(path), `${head}${withoutHelm(text)}\n`]));
}

export function baseKustomization(names: readonly string[]): string {
  return [
    head.trimEnd(),
    '# Make an overlay of your own: images, the namespace, and the Secrets of docs/kubernetes.md.',
    'apiVersion: kustomize.config.k8s.io/v1beta1',
    'kind: Kustomization',
    'namespace: gatehouse',
    'resources:',
    ...['namespace.yaml', ...names].map((name) => `  - ${basename(name)}`),
    '',
  ].join('\n');
}

const isLeftOut = (key: string): boolean =>
  key === 'namespace' || key.startsWith('helm.sh/') || key === 'app.kubernetes.io/managed-by';
const text = (value: unknown): string => JSON.stringify(value);
const byText = (one: unknown, other: unknown): number => (text(one) < text(other) ? -1 : 1);

/** With keys in order, and lists in which the order means nothing in that of their texts. */
function normal(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((one) => normal(one));
    return key === 'env' || key === 'sources' ? items.sort(byText) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, one]) => !isLeftOut(name) && one !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, one]) => [name, normal(one, name)]),
  );
}

/** What must be equal in both: without marks of helm and kustomize. */
export const comparable = (objects: readonly KubernetesObject[]): unknown[] =>
  objects
    .filter(({ kind }) => kind !== 'Namespace' && kind !== 'Pod')
    .sort((one, other) => byText([one.kind, one.metadata.name], [other.kind, other.metadata.name]))
    .map((one) => normal(one));
