// The manifests for kustomize say what the chart says: the base is made of it, overlays are compared with its examples.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isInstalled, run } from '../release/commands.js';
import { chart, documentsOf, objectsOf, render, root, withoutRenderer } from './chart.js';
import { baseKustomization, comparable, kustomizeFiles } from './kustomize.js';

const kustomize = join(root, 'deploy/kustomize');
const example = (name: string): string => join(chart, 'ci', `${name}-values.yaml`);
const isUpdate = process.env['UPDATE'] === '1';
const withoutKubectl =
  withoutRenderer === false && !isInstalled('kubectl') ? 'kubectl is not installed' : withoutRenderer;

t.test('files that are made of the chart', { skip: withoutRenderer }, async (t) => {
  const base = kustomizeFiles(render());
  const scaling = kustomizeFiles(render(example('high-availability'))).get('data-plane-autoscaler.yaml') ?? '';
  const files = new Map([
    ...[...base].map(([name, text]): [string, string] => [join('base', name), text]),
    ['base/kustomization.yaml', baseKustomization([...base.keys()])],
    ['overlays/high-availability/data-plane-autoscaler.yaml', scaling],
  ]);
  for (const [name, text] of files) {
    if (isUpdate) writeFileSync(join(kustomize, name), text);
    t.equal(readFileSync(join(kustomize, name), 'utf8'), text, `${name}: UPDATE=1 writes it`);
  }
});

t.test('overlays equal the chart with the values of the same name', { skip: withoutKubectl }, async (t) => {
  for (const [directory, values] of [
    ['base', []],
    ['overlays/small', [example('small')]],
    ['overlays/high-availability', [example('high-availability')]],
  ] as const) {
    const built = documentsOf(run('kubectl', ['kustomize', join(kustomize, directory)]));
    t.ok(
      built.every(({ kind, metadata }) => kind === 'Namespace' || metadata['namespace'] === 'gatehouse'),
      `${directory}: everything is in the namespace`,
    );
    t.strictSame(comparable(built), comparable(objectsOf(render(...values))), directory);
  }
});
