// `gatehouse scan` as a pipeline runs it: what it prints and writes, and the exit codes, of which 2 is never "clean".
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { captured } from '../../../testing/rule-command.js';
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
    const found = await captured(() => runScan([directory(t, files), ...args]));
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
    t.equal((await captured(() => runScan([root, '--format', format, '-o', out]))).code, 1);
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
    const { code, text } = await captured(() => runScan([empty, '--format', format]));
    t.equal(code, 2, format);
    t.match(text, pattern, format);
  }
  const text = directory(t, { 'a.txt': 'x' });
  const junit = await captured(() => runScan([text, '--only', 'iac', '--format', 'junit']));
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
    await t.rejects(runScan([root, ...args]), { exitCode: 2, message: told });
  await t.rejects(runScan([join(root, 'missing')]), { exitCode: 2, message: /ENOENT/ });
});
