// Our own tree as `gatehouse scan` sees it: a finding is fixed, set aside where it stands, or argued in a baseline;
// what is not read is named here. A new finding is either fixed, or gets its entry with a reason:
//   bin/gatehouse scan <folders of the tree> --only secrets,sast,iac,k8s --write-baseline fixtures/own-baseline.json
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { captured } from '../../../testing/rule-command.js';
import { runScan } from './scan.js';

/** What is committed, by name: beside it a machine may keep what is made, fetched or somebody else's. */
const folders =
  /^(?:api|bench|bin|cli|compiler|console|deploy|docs|engine|fixtures|proxy|sensor|settings|tidy|vm-manager)$/;
const files = /^(?:Makefile|[A-Z]+\.md|package(?:-lock)?\.json|tidy\.test\.ts)$/;
/** The grammar loses its way in these two (nested patterns of text); they get no data of requests but to mask it. */
const notRead = ['vm-manager/assistant/told.ts', 'vm-manager/scanners/iac/docker/mistakes.ts'];

interface Report {
  readonly files: number;
  readonly scanners: readonly { readonly kind: string; readonly faults: readonly { readonly path: string }[] }[];
  readonly findings: readonly {
    readonly rule: string;
    readonly path: string;
    readonly line: number;
    suppressed?: string;
  }[];
}

t.setTimeout(600_000);

t.test('28: our own repository has no finding that is not argued', async (t) => {
  const baseline = 'fixtures/own-baseline.json';
  const known = JSON.parse(readFileSync(baseline, 'utf8')) as { findings: { path: string; reason?: string }[] };
  for (const { path, reason = '' } of known.findings) t.not(reason, '', `${path} is argued`);

  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-own-tree-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const out = join(directory, 'report.json');
  const ours = readdirSync('.').filter((name) => folders.test(name) || files.test(name));
  const args = ['--only', 'secrets,sast,iac,k8s', '--baseline', baseline, '--format', 'json', '-o', out, '--no-cache'];
  await captured(() => runScan([...ours, ...args]));
  const report = JSON.parse(readFileSync(out, 'utf8')) as Report;

  t.ok(report.files > 3000, `${report.files} files`);
  const open = report.findings.filter(({ suppressed }) => suppressed === undefined);
  t.strictSame(
    open.map(({ rule, path, line }) => `${rule} ${path}:${line}`),
    [],
  );
  t.ok(report.findings.length >= known.findings.length, 'and those that are argued are seen');
  const faults = report.scanners.flatMap((scanner) => scanner.faults.map(({ path }) => path));
  t.strictSame(faults.sort(), notRead, 'what is not read whole');
});
