// Manifests of Kubernetes: documents of YAML or JSON, lists taken apart, pod templates of all workloads, with lines.
import { isMap, isSeq, LineCounter, parseAllDocuments, visit, type Document, type Node } from 'yaml';
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

/** Whether a text can name the fields that make an object of the API, however they are quoted; the parser decides. */
export const mayBeManifest = (text: string): boolean => /apiVersion/.test(text) && /kind/.test(text);

/** By the mark at the beginning, else by the zeros of the first sign (YAML 1.2, 5.2); '': UTF-8. */
function encodingOf(bytes: Buffer): 'utf-16le' | 'utf-16be' | 'utf-32' | '' {
  const [first, second, third, fourth] = bytes;
  if (first === undefined || second === undefined) return '';
  const isLong = (first === 0 && second === 0) || (second === 0 && third === 0 && fourth === 0);
  if (isLong || (first === 0xff && second === 0xfe && third === 0 && fourth === 0)) return 'utf-32';
  if ((first === 0xff && second === 0xfe) || second === 0) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || first === 0 ? 'utf-16be' : '';
}

/** In any encoding that YAML has, without its mark. Throws an Error for one that is not read. */
export function decodeManifest(bytes: Buffer): string {
  const encoding = encodingOf(bytes);
  if (encoding === 'utf-32') throw new Error('is in UTF-32: write it in UTF-8');
  if (encoding === '') return bytes.toString('utf8').replace(/^\uFEFF/, '');
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}

/** Whether the first line that is no comment is one of YAML or JSON: of a file with any ending. */
export const beginsAsManifest = (text: string): boolean =>
  /^(?:\s*(?:#[^\n]*|%YAML[^\n]*|---[^\n]*)?\n)*\s*(?:[{[]|- |["']?[A-Za-z]\w*["']?\s*:(?:\s|$))/.test(text);

/** Words that Kubernetes, which reads YAML 1.1, takes for booleans, and YAML 1.2 for texts; unquoted. */
const oldBooleans: Readonly<Record<string, boolean>> = {
  yes: true,
  on: true,
  y: true,
  no: false,
  off: false,
  n: false,
};

function readOldBooleans(document: Document): void {
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || node.type !== 'PLAIN' || typeof node.value !== 'string') return;
      if (!/^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)$/.test(node.value)) return;
      node.value = oldBooleans[node.value.toLowerCase()] ?? node.value;
    },
  });
}

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

/** Items of a `PodList` are pods, also where they do not say it, as the API server writes them. */
function itemOf(list: Json, item: Json): Json {
  const kind = textOf(item['kind']) || textOf(list['kind']).slice(0, -'List'.length) || '(none)';
  return { ...item, kind, apiVersion: textOf(item['apiVersion']) || textOf(list['apiVersion']) };
}

/** Throws an Error with the reason for what is no YAML. */
export function readManifests(text: string): readonly Manifest[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    merge: true,
  });
  const found: Manifest[] = [];
  const take = (object: Json, at: Path, document: Document): void => {
    const kind = textOf(object['kind']);
    if (kind.endsWith('List') && Array.isArray(object['items'])) {
      for (const [index, item] of listOf(object['items']).entries())
        take(itemOf(object, objectOf(item)), [...at, 'items', index], document);
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
    readOldBooleans(document);
    const made: unknown = document.toJS({ maxAliasCount: aliasesMax });
    if (!Array.isArray(made)) take(objectOf(made), [], document);
    else for (const [index, item] of made.entries()) take(objectOf(item), [index], document);
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

const depthMax = 12;

/** Kinds that are not known and hold containers, as templates of pods do: what they run is looked at by no rule. */
export function isUnknownWorkload({ kind, object }: Manifest): boolean {
  if (Object.hasOwn(templates, kind)) return false;
  const holds = (value: unknown, depth: number): boolean => {
    if (typeof value !== 'object' || value === null || depth > depthMax) return false;
    if (Array.isArray(value)) return value.some((one) => holds(one, depth + 1));
    const { containers } = value as Json;
    if (Array.isArray(containers) && containers.some((one) => Object.keys(objectOf(one)).length > 0)) return true;
    return Object.values(value).some((one) => holds(one, depth + 1));
  };
  return holds(object['spec'], 0) || holds(object['template'], 0) || holds(object['objects'], 0);
}

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
