// What a scan closes, over HTTP: findings in files that the upload had and that were looked at; those of files that it
// has not only where it says that it is the whole checkout.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { testMsMax, until } from '#api/testing/waiting';
import { zipOf } from '../../testing/archives.js';
import { Client, type Json } from '../../testing/import-client.js';
import { toSarif } from '../report/sarif.js';
import { scan as scanSource } from '../run/scan.js';
import { scannerOf } from '../catalogue.js';
import type { Extent } from '../contract.js';
import { madeChecked } from '../testing/made-secrets.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
type Files = Readonly<Record<string, string>>;

const secret = (seed: number): string => `t = '${madeChecked('ghp_', seed)}'\n`;
const badImage = 'FROM debian\nUSER root\n';
const goodImage = `FROM debian@sha256:${'a'.repeat(64)}\nUSER 1000\nHEALTHCHECK CMD true\n`;
const pod = (isPrivileged: boolean, name = 'p'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, namespace: n}\nspec:\n  containers:\n` +
  `    - {name: c, image: "x@sha256:${'a'.repeat(64)}", securityContext: {privileged: ${isPrivileged}}}\n`;
const bucket = 'resource "aws_s3_bucket" "logs" {\n  bucket = "logs"\n  acl = "public-read"\n}\n';

const template = (isEncrypted: boolean): string =>
  JSON.stringify({
    Resources: { Disk: { Type: 'AWS::EC2::Volume', Properties: { Encrypted: isEncrypted, KmsKeyId: 'k', Size: 8 } } },
  });

interface Case {
  readonly what: string;
  readonly path: string;
  readonly first: Files;
  /** A text: a single file, under the name `path`. */
  readonly second: Files | readonly [path: string, text: string];
  readonly fields?: Readonly<Record<string, string>>;
  readonly firstFields?: Readonly<Record<string, string>>;
  /** Files whose findings are resolved afterwards; all others are open. */
  readonly resolved: readonly string[];
}

const keys = { 'a.py': secret(1), 'x/c.py': secret(2) };
const images = { Dockerfile: badImage, 'svc/Dockerfile': badImage };
const pods = { 'p.yaml': pod(true), 'x/q.yaml': pod(true, 'q') };
const cases: readonly Case[] = [
  { what: 'one other file', path: '/secrets', first: keys, second: ['b.py', 'x = 1\n'], resolved: [] },
  { what: 'the file itself, fixed', path: '/secrets', first: keys, second: ['a.py', 'x = 1\n'], resolved: ['a.py'] },
  { what: 'another directory', path: '/secrets', first: keys, second: { 'y/d.py': 'x = 1\n' }, resolved: [] },
  {
    what: 'a directory that has one of the files',
    path: '/secrets',
    first: keys,
    second: { 'x/c.py': 'x = 1\n', 'x/d.py': 'y = 1\n' },
    resolved: ['x/c.py'],
  },
  {
    what: 'part, said aloud',
    path: '/secrets',
    first: keys,
    second: { 'x/d.py': 'y = 1\n' },
    fields: { covers: 'part' },
    resolved: [],
  },
  {
    what: 'the whole checkout, with a file deleted',
    path: '/secrets',
    first: keys,
    second: { 'x/c.py': keys['x/c.py'] },
    fields: { covers: 'whole' },
    resolved: ['a.py'],
  },
  {
    what: 'the whole checkout of another branch',
    path: '/secrets',
    first: keys,
    second: { 'x/d.py': 'y = 1\n' },
    fields: { covers: 'whole', branch: 'feature' },
    resolved: [],
  },
  {
    what: 'the whole of the same commit, of which less is scanned now',
    path: '/secrets',
    first: keys,
    second: { 'x/c.py': keys['x/c.py'] },
    firstFields: { covers: 'whole', commit: 'c0ffee' },
    fields: { covers: 'whole', commit: 'c0ffee' },
    resolved: ['a.py'],
  },
  {
    what: 'a template of CloudFormation that was fixed',
    path: '/iac',
    first: { 'a.json': template(false), 'b.json': template(false) },
    second: { 'a.json': template(true) },
    resolved: ['a.json'],
  },
  { what: 'another image', path: '/iac', first: images, second: { 'other/Dockerfile': goodImage }, resolved: [] },
  { what: 'one image', path: '/iac', first: images, second: ['Dockerfile', goodImage], resolved: ['Dockerfile'] },
  {
    what: 'Terraform, whose files mean something together only',
    path: '/iac',
    first: { 'infra/main.tf': bucket, Dockerfile: badImage },
    second: { 'infra/main.tf': 'variable "a" {}\n', Dockerfile: goodImage },
    resolved: ['Dockerfile'],
  },
  { what: 'another manifest', path: '/k8s-posture', first: pods, second: ['o.yaml', pod(false)], resolved: [] },
  {
    what: 'a manifest that became a template, which is left out',
    path: '/k8s-posture',
    first: pods,
    second: { 'p.yaml': `{{ if .Values.on }}\n${pod(true)}{{ end }}\n`, 'o.yaml': pod(false) },
    resolved: [],
  },
];

async function hub(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const send = async (app: string, path: string, given: Case['second'], fields: object = {}): Promise<Json> => {
    at.clock.nowMs += 60_000;
    const isFile = Array.isArray(given);
    const bytes = isFile
      ? Buffer.from(String(given[1]))
      : zipOf(Object.entries(given as Files).map(([name, data]) => ({ name, data })));
    const named = { ...fields, ...(isFile ? { path: String(given[0]) } : {}) };
    const { status, body } = await client.send(app, bytes, named, `${path}/scans`);
    if (status !== 202) return { status, ...body };
    let run: Json = {};
    await until('the scan ends', async () => {
      run = (await client.call('GET', `${path}/scans/${body['id']}`)).body;
      return run['status'] !== 'queued' && run['status'] !== 'running';
    });
    return run;
  };
  /** Files with findings, and those of them whose findings are all resolved. */
  const filesOf = async (app: string) => {
    const left = new Map<string, boolean>();
    for (const { id, status } of await client.findings(app)) {
      const { body } = await client.call('GET', `/vulnerabilities/${id}/occurrences`);
      for (const { location } of body['items'] as Json[]) {
        const file = String(location.path);
        left.set(file, left.get(file) === true || status !== 'resolved');
      }
    }
    const gone = [...left].filter(([, isOpen]) => !isOpen).map(([file]) => file);
    return { all: [...left.keys()].sort(), gone: gone.sort() };
  };

  for (const { what, path, first, second, fields, firstFields, resolved } of cases)
    await t.test(`${path}: ${what}`, async (t) => {
      const app = await client.application();
      t.match(await send(app, path, first, firstFields), { status: 'succeeded', result: { complete: true } });
      t.same(await filesOf(app), { all: Object.keys(first).sort(), gone: [] });
      t.match(await send(app, path, second, fields), { status: 'succeeded', result: { complete: true } });
      t.same((await filesOf(app)).gone, resolved);
    });

  await t.test('a single file is no whole checkout', async (t) => {
    const app = await client.application();
    const refused = await send(app, '/secrets', ['a.py', 'x = 1\n'], { covers: 'whole' });
    t.equal(refused['status'], 422);
    t.match(JSON.stringify(refused), /single file/);
    t.match(await send(app, '/secrets', keys, { covers: 'most' }), { status: 422 });
  });

  await t.test('the SARIF of the command line says what it covers, and imports close no more', async (t) => {
    const sarifOf = async (files: Files, covers: Extent) => {
      const source = {
        total: null,
        isOneFile: false,
        async *items() {
          for (const [path, text] of Object.entries(files))
            yield { path, bytes: text.length, read: async () => Buffer.from(text) };
        },
      };
      const kinds = ['secrets', 'iac'].map(scannerOf);
      return toSarif(await scanSource(source, kinds, () => undefined, new AbortController().signal), covers);
    };
    const all = { ...keys, ...images };
    const app = await client.application();
    const sync = { confirm_close: 'true', mode: 'sync' };
    t.equal((await client.send(app, await sarifOf(all, 'whole'), sync)).status, 202);
    for (const [files, covers, closed] of [
      [{ 'y.py': 'x = 1\n' }, 'part', []],
      [{ 'a.py': 'x = 1\n' }, 'part', ['a.py']],
      [{ 'y.py': 'x = 1\n' }, 'whole', ['Dockerfile', 'a.py', 'svc/Dockerfile', 'x/c.py']],
    ] as const) {
      at.clock.nowMs += 60_000;
      t.equal((await client.send(app, await sarifOf(files as Files, covers), sync)).status, 202);
      t.same((await filesOf(app)).gone, closed, `${covers} of ${Object.keys(files).join()}`);
    }
  });
}

void onOneDatabase(t, 'what a scan covers', hub);
