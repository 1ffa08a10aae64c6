// Manifests of Kubernetes: documents of YAML or JSON, lists taken apart, pod templates of all workloads, with lines.
import { isMap, isSeq, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml';
import { listOf, objectOf, textOf, type Json } from '../sca/listing.js';

const aliasesMax = 100;
const documentsMax = 20_000;

type Path = readonly (string | number)[];

/** One object of the API. */
export interface Manifest {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly object: Json;
  /** `Deployment/shop`. */
  readonly address: string;
  /** Of the value at a path in the object, or of the nearest that is there. */
  lineOf(path: Path): number;
}

export interface Container {
  readonly spec: Json;
  readonly path: Path;
  readonly name: string;
  readonly isInit: boolean;
}

/** What runs: the template of a workload. */
export interface Workload {
  readonly manifest: Manifest;
  readonly pod: Json;
  readonly path: Path;
  readonly annotations: Json;
  readonly containers: readonly Container[];
}

/** Whether a text is about objects of Kubernetes at all. */
export const looksLikeManifest = (text: string): boolean =>
  /^[\s{"-]*"?apiVersion"?\s*:/m.test(text) && /^[\s{"-]*"?kind"?\s*:\s*"?[A-Z]/m.test(text);

function lineIn(document: Document, lines: LineCounter, path: Path): number {
  let node: unknown = document.contents;
  let offset = document.range?.[0] ?? 0;
  for (const key of ['', ...path]) {
    if (key !== '') {
      if (isMap(node)) {
        const pair = node.items.find((one) => String((one.key as { value?: unknown } | null)?.value) === String(key));
        if (pair === undefined) break;
        offset = (pair.key as Node).range?.[0] ?? offset;
        node = pair.value;
        continue;
      }
      if (!isSeq(node) || typeof key !== 'number') break;
      node = node.items[key];
    }
    offset = (node as Node | null | undefined)?.range?.[0] ?? offset;
  }
  return lines.linePos(offset).line;
}

/** Throws an Error with the reason for what is no YAML. */
export function readManifests(text: string): readonly Manifest[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const found: Manifest[] = [];
  const take = (object: Json, at: Path, document: Document): void => {
    const kind = textOf(object['kind']);
    if (kind.endsWith('List') && Array.isArray(object['items'])) {
      for (const [index, item] of listOf(object['items']).entries())
        take(objectOf(item), [...at, 'items', index], document);
      return;
    }
    if (kind === '' || textOf(object['apiVersion']) === '') return;
    if (found.length >= documentsMax) throw new Error(`has more than ${documentsMax} objects`);
    const metadata = objectOf(object['metadata']);
    const name = textOf(metadata['name']) || textOf(metadata['generateName']) || 'unnamed';
    const lineOf = (path: Path): number => lineIn(document, lines, [...at, ...path]);
    found.push({ kind, name, namespace: textOf(metadata['namespace']), object, address: `${kind}/${name}`, lineOf });
  };
  for (const document of documents) {
    if (!('contents' in document)) continue;
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`is no YAML in line ${lines.linePos(error.pos[0]).line}`);
    take(objectOf(document.toJS({ maxAliasCount: aliasesMax })), [], document);
  }
  return found;
}

const templates: Readonly<Record<string, Path>> = {
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  ReplicationController: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
  PodTemplate: ['template'],
  Pod: [],
};

const inside = (object: Json, path: Path): Json => {
  let at: unknown = object;
  for (const key of path) at = objectOf(at)[String(key)];
  return objectOf(at);
};

/** null: it runs nothing. */
export function workloadOf(manifest: Manifest): Workload | null {
  if (!Object.hasOwn(templates, manifest.kind)) return null;
  const template = templates[manifest.kind] ?? [];
  const path = [...template, 'spec'];
  const pod = inside(manifest.object, path);
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((group) =>
    listOf(pod[group]).map((value, index): Container => {
      const spec = objectOf(value);
      return { spec, path: [...path, group, index], name: textOf(spec['name']), isInit: group === 'initContainers' };
    }),
  );
  const annotations = inside(manifest.object, [...template, 'metadata', 'annotations']);
  return { manifest, pod, path, annotations, containers };
}
