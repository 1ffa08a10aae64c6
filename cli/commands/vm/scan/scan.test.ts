// `gatehouse scan` as a pipeline runs it: what it prints and writes, and the exit codes, of which 2 is never "clean".
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import { pack } from 'tar-stream';
import t, { type Test } from 'tap';
import { captured } from '../../../testing/rule-command.js';
import { Refusal } from '../../../refusal.js';
import { runScan } from './scan.js';

function directory(t: Test, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-scan-command-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}
const key = `-----BEGIN PRIVATE ${'KEY'}-----\n${Array.from({ length: 8 }, (_, index) =>
  Buffer.from(`a line ${index} of no key at all, ${index * 7919}`).toString('base64'),
).join('\n')}\n-----END PRIVATE ${'KEY'}-----\n`;

t.setTimeout(300_000);
const refusedWith2 = (error: unknown): number => {
  if (error instanceof Refusal && error.exitCode === 2) return 2;
  throw error;
};
/** What a scan remembers is asked for by those tests alone. */
const run = (args: readonly string[]) => runScan(args.includes('--cache') ? args : [...args, '--no-cache']);

t.test('exit codes: nothing, something, not everything', async (t) => {
  for (const [what, files, args, code] of [
    ['nothing', { 'a.txt': 'nothing here' }, [], 0],
    ['a secret', { 'a.pem': key }, [], 1],
    ['a secret, and nobody asks', { 'a.pem': key }, ['--fail-on', 'never'], 0],
    ['a small matter', { Dockerfile: 'FROM debian\nUSER a\n' }, [], 0],
    ['a small matter, asked for', { Dockerfile: 'FROM debian\nUSER a\n' }, ['--fail-on', 'low'], 1],
    ['set aside', { Dockerfile: '# gatehouse:ignore docker-root-user a builder\nFROM debian:12\n' }, [], 0],
    ['a file that cannot be read', { 'main.tf': 'resource "a" {' }, [], 2],
    ['packages beside nothing', { 'requirements.txt': 'a==1.0\n' }, ['--only', 'sca'], 2],
    ['a bill', { 'requirements.txt': 'a==1.0\n' }, ['--format', 'cyclonedx'], 0],
    ['an empty directory', {}, [], 2],
  ] as const) {
    const found = await captured(() => run([directory(t, files), ...args]));
    t.equal(found.code, code, `${what}: ${found.text}`);
  }
});

t.test('every format has what was found, and what was not read', async (t) => {
  const root = directory(t, { 'a.pem': key, 'b.tf': 'resource {' });
  const out = join(directory(t, {}), 'report');
  for (const [format, patterns] of [
    ['table', [/critical a\.pem:1/, /INCOMPLETE/, /NOT READ {2}1/]],
    ['markdown', [/\| critical \| a\.pem:1/, /INCOMPLETE/]],
    ['junit', [/<failure type="critical"/, /<error message="cannot be read/]],
    ['json', [/"complete": false/, /"rule": "private-key"/]],
    ['sarif', [/"name": "gatehouse-secrets"/, /"ruleId": "private-key"/, /"not-read"/]],
  ] as const) {
    t.equal((await captured(() => run([root, '--format', format, '-o', out]))).code, 1);
    const text = readFileSync(out, 'utf8');
    for (const pattern of patterns) t.match(text, pattern, format);
    if (format === 'json' || format === 'sarif') t.type(JSON.parse(text), 'object');
  }
});

t.test('no report of a scan that read nothing says that nothing was found', async (t) => {
  const empty = directory(t, {});
  for (const [format, pattern] of [
    ['table', /INCOMPLETE[\s\S]*NOT READ {2}1: there is no file/],
    ['markdown', /INCOMPLETE/],
    ['junit', /<error message="there is no file in it"/],
    ['json', /"complete": false/],
    ['sarif', /"not-read"/],
  ] as const) {
    const { code, text } = await captured(() => run([empty, '--format', format]));
    t.equal(code, 2, format);
    t.match(text, pattern, format);
  }
  const text = directory(t, { 'a.txt': 'x' });
  const junit = await captured(() => run([text, '--only', 'iac', '--format', 'junit']));
  t.match(junit.text, /<skipped message="no file of this kind"/);
  t.notMatch(junit.text, /no finding/);
});

t.test('wrong usage ends with 2 and says what is right', async (t) => {
  const root = directory(t, { a: 'x' });
  for (const [args, told] of [
    [['--only', 'dast'], /there is no such scanner; there are secrets/],
    [['--format', 'pdf'], /choose one of table/],
    [['--fail-on', 'sometimes'], /choose one of critical/],
    [['--gate'], /--application ID and --commit/],
    [['--only', 'sca', '--advisories', root], /there is no advisory in this folder/],
    [['-o', root], /is a directory/],
  ] as const)
    await t.rejects(run([root, ...args]), { exitCode: 2, message: told });
  await t.rejects(run([join(root, 'missing')]), { exitCode: 2, message: /ENOENT/ });
});

async function tarOf(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const tar = pack();
  for (const [name, data] of Object.entries(files)) tar.entry({ name, mtime: new Date(0) }, data);
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** As `docker save` writes it. */
async function imageOf(
  layers: readonly Readonly<Record<string, string>>[],
  packed = (layer: Buffer): Buffer => layer,
): Promise<Buffer> {
  const tars = await Promise.all(layers.map(tarOf));
  const diff_ids = tars.map((one) => `sha256:${createHash('sha256').update(one).digest('hex')}`);
  const names = tars.map((_, at) => `${at}/layer.tar`);
  return tarOf({
    ...Object.fromEntries(tars.map((one, at) => [names[at] ?? '', packed(one)])),
    'config.json': JSON.stringify({ os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids } }),
    'manifest.json': JSON.stringify([{ Config: 'config.json', RepoTags: ['shop:1'], Layers: names }]),
  });
}

const json = async (args: readonly string[]) => {
  const out = join(mkdtempSync(join(tmpdir(), 'gatehouse-scan-out-')), 'r.json');
  const { code, text } = await captured(() => run([...args, '--format', 'json', '-o', out]));
  const report = JSON.parse(readFileSync(out, 'utf8')) as {
    files: number;
    findings: { rule: string; path: string; suppressed?: string }[];
    scanners: { kind: string; complete: boolean; packages: number }[];
  };
  rmSync(dirname(out), { recursive: true, force: true });
  return { code, text, ...report };
};

t.test('a second scan reads what has changed, and says the same of the rest', async (t) => {
  const root = directory(t, {
    'a.pem': key,
    'b.js': 'x = 1;\n',
    Dockerfile: 'FROM debian\nUSER a\n',
    'c.tf': 'resource {',
  });
  const old = new Date(Date.now() - 60_000);
  for (const name of ['a.pem', 'b.js', 'Dockerfile', 'c.tf']) utimesSync(join(root, name), old, old);
  const first = await json([root]);
  const cache = ['--cache', directory(t, {})];
  for (let n = 0; n < 3; n++) {
    const again = await json([root, ...cache]);
    t.same({ ...again, seconds: 0, bytes: 0 }, { ...first, seconds: 0, bytes: 0 }, `scan ${n}`);
  }
  writeFileSync(join(root, 'b.js'), key);
  writeFileSync(join(root, 'a.pem'), 'nothing');
  t.match(await json([root, ...cache]), { findings: [{ rule: 'private-key', path: 'b.js' }, {}] });
  rmSync(join(root, 'b.js'));
  t.notOk((await json([root, ...cache])).findings.some(({ rule }) => rule === 'private-key'));
});

t.test('a baseline sets aside what is known, and nothing else', async (t) => {
  const root = directory(t, { 'a.pem': key });
  const baseline = join(directory(t, {}), 'baseline.json');
  t.equal((await json([root, '--write-baseline', baseline])).code, 0);
  const text = readFileSync(baseline, 'utf8');
  writeFileSync(baseline, text.replace('"count":1', '"count":1,"reason":"of a test"'));
  const known = await json([root, '--baseline', baseline]);
  t.match(known, { code: 0, findings: [{ suppressed: 'baseline: of a test' }] });
  writeFileSync(join(root, 'a.pem'), `\n\n${key}`);
  t.equal((await json([root, '--baseline', baseline])).code, 0, 'lines move');
  writeFileSync(join(root, 'b.pem'), key);
  t.equal((await json([root, '--baseline', baseline])).code, 1, 'a new one');
  await json([root, '--write-baseline', baseline]);
  t.match(readFileSync(baseline, 'utf8'), /of a test/, 'reasons stay');
  writeFileSync(baseline, '{}');
  await t.rejects(run([root, '--baseline', baseline]), { exitCode: 2, message: /is no baseline/ });
});

/** By the program `zstd`; null: it is not here. */
function zstd(bytes: Buffer): Buffer | null {
  try {
    return execFileSync('zstd', ['-q', '-c', '-19'], { input: bytes, maxBuffer: 1 << 26 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const withoutZstd = zstd(Buffer.from('x')) === null ? 'no program zstd is here' : false;
t.test('an image with layers of Zstandard, and a damaged one', { skip: withoutZstd }, async (t) => {
  const root = directory(t, {});
  const layers = [{ 'app/id.pem': key, 'app/big.txt': 'many words '.repeat(40_000) }, { 'app/b.pem': key }];
  const whole = await imageOf(layers, (layer) => zstd(layer) ?? layer);
  writeFileSync(join(root, 'shop.tar'), whole);
  const found = await json([join(root, 'shop.tar'), '--only', 'containers']);
  const paths = found.findings.filter(({ rule }) => rule === 'private-key').map(({ path }) => path);
  t.same(paths.sort(), ['shop.tar!app/b.pem', 'shop.tar!app/id.pem']);
  t.equal(found.code, 1);
  const half = await imageOf(layers, (layer) => (zstd(layer) ?? layer).subarray(0, 60));
  writeFileSync(join(root, 'half.tar'), half);
  t.equal((await captured(() => run([join(root, 'half.tar'), '--fail-on', 'never']).catch(refusedWith2))).code, 2);
});

t.test('several paths, images and bills', async (t) => {
  const root = directory(t, {
    'src/a.pem': key,
    'src/b.pem': key,
    'one.txt': 'nothing',
    'any name.json': JSON.stringify({
      bomFormat: 'CycloneDX',
      components: [{ name: 'a', version: '1', purl: 'pkg:npm/a@1' }],
    }),
  });
  writeFileSync(join(root, 'shop.tar'), await imageOf([{ 'app/id.pem': key }, { 'app/.wh.id.pem': '' }]));
  const both = await json([join(root, 'src'), join(root, 'one.txt')]);
  t.same(
    both.findings.map(({ path }) => path),
    ['src/a.pem', 'src/b.pem'],
  );
  const of = await json([join(root, 'shop.tar'), '--only', 'containers']);
  t.ok(
    of.findings.some(({ path, rule }) => path === 'shop.tar!app/id.pem' && rule === 'private-key'),
    'deleted later',
  );
  await t.rejects(run([join(root, 'shop.tar'), '--only', 'secrets']), { message: /is an image: add containers/ });
  const all = await json([root, '--all']);
  const paths = all.findings.filter(({ rule }) => rule === 'private-key').map(({ path }) => path);
  t.same(paths.sort(), ['shop.tar!app/id.pem', 'src/a.pem', 'src/b.pem']);
  const bill = await json([join(root, 'any name.json')]);
  t.match(
    bill.scanners.find(({ kind }) => kind === 'sca'),
    { packages: 1, complete: false },
  );
  t.equal(bill.code, 2, 'compared with nothing');
});

t.test('the script for pipelines says it in arguments that no path changes', (t) => {
  const root = directory(t, {});
  const program = join(root, 'echo');
  writeFileSync(program, '#!/bin/sh\nfor one; do printf "%s|" "$one"; done\n', { mode: 0o755 });
  const env = {
    PATH: process.env['PATH'],
    GATEHOUSE: program,
    SCAN_PATHS: '--x * a',
    SCAN_ONLY: 'secrets',
    SCAN_OUTPUT: 'o',
  };
  const said = execFileSync('sh', ['deploy/scan/scan.sh'], { env }).toString();
  t.equal(said, 'scan|--format|sarif|-o|o|--fail-on|high|--no-cache|--only|secrets|--|--x|*|a|');
  t.end();
});
