// The chart as tests see it: rendered by a small program that does what helm does (renderer/main.go), and parsed.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { isInstalled, run } from '../release/commands.js';

export const root = join(import.meta.dirname, '../../..');
export const chart = join(root, 'deploy/helm/gatehouse');
export const releaseName = 'gatehouse';
export const namespace = 'gatehouse';

export type Json = Readonly<Record<string, unknown>>;
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [more: string]: unknown;
  };
  readonly spec?: Json;
  readonly [more: string]: unknown;
}
/** Path of a template → its text; or what helm would refuse with. */
export type Rendering = Readonly<Record<string, string>>;

const sources = '/usr/share/gocode/src';
const packages = ['github.com/Masterminds/sprig', 'gopkg.in/yaml.v3'];
/** Why the chart cannot be rendered here; false: it can. */
export const withoutRenderer: string | false =
  isInstalled('go') && packages.every((name) => statSync(join(sources, name), { throwIfNoEntry: false }) !== undefined)
    ? false
    : 'Go and its packages are not installed: ' +
      'apt-get install golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev';

let program: string | null = null;

/** Built once a process; what Go compiled before is in its cache. */
function renderer(): string {
  if (program !== null) return program;
  const file = join(mkdtempSync(join(tmpdir(), 'gatehouse-render-')), 'render');
  const cache = join(homedir() || tmpdir(), '.cache/go-build');
  mkdirSync(cache, { recursive: true });
  const env = { PATH: process.env['PATH'] ?? '', GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: cache };
  run('go', ['build', '-o', file, join(root, 'deploy/cluster/renderer/main.go')], { env });
  return (program = file);
}

/** `values`: files, in their order. */
export const render = (...values: readonly string[]): Rendering =>
  JSON.parse(run(renderer(), [chart, releaseName, namespace, ...values])) as Rendering;

export const isManifest = (path: string): boolean => path.endsWith('.yaml');

/** Throws where a document is no YAML. */
export function documentsOf(text: string): KubernetesObject[] {
  return parseAllDocuments(text)
    .map((document) => {
      const [problem] = document.errors;
      if (problem !== undefined) throw problem;
      return document.toJS() as KubernetesObject | null;
    })
    .filter((one) => one !== null);
}

export const objectsOf = (rendering: Rendering): KubernetesObject[] =>
  Object.entries(rendering)
    .filter(([path]) => isManifest(path))
    .flatMap(([, text]) => documentsOf(text));

export const exampleFiles = (): string[] =>
  readdirSync(join(chart, 'ci'))
    .filter((name) => name.endsWith('-values.yaml'))
    .sort()
    .map((name) => join(chart, 'ci', name));

export const readYaml = (path: string): Json => parse(readFileSync(path, 'utf8')) as Json;

/** As helm merges values: maps together, everything else in place of what was there. */
export function merged(under: unknown, over: unknown): unknown {
  if (!isMap(under) || !isMap(over)) return over;
  const result: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) result[key] = key in under ? merged(under[key], value) : value;
  return result;
}
const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Writes `values` beside others of a test; returns the path. */
export function writeValues(directory: string, name: string, values: unknown): string {
  const path = join(directory, `${name}.yaml`);
  writeFileSync(path, JSON.stringify(values)); // JSON is YAML
  return path;
}
