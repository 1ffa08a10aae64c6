// `gatehouse scan --upload` against a started installation: what it has found is findings there, a second scan closes
// what is gone, a part closes nothing, and what is refused says why.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax } from '#api/testing/waiting';
import { Refusal } from '../../../refusal.js';
import { captured } from '../../../testing/rule-command.js';
import { runScan } from './scan.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const key = `-----BEGIN PRIVATE ${'KEY'}-----\n${Array.from({ length: 8 }, (_, index) =>
  Buffer.from(`a line ${index} of no key at all, ${index * 7919}`).toString('base64'),
).join('\n')}\n-----END PRIVATE ${'KEY'}-----\n`;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const call = (method: string, url: string, body?: unknown) => at.call(method, url, { token, body });
  const application = String((await call('POST', '/api/v1/applications', { name: 'shop' })).body['id']);
  const tokenOf = async (scope: string): Promise<string> => {
    const made = await call('POST', '/api/v1/tokens', { name: scope, scopes: [scope] });
    t.equal(made.status, 201, made.text);
    return String(made.body['token']);
  };
  process.env['GATEHOUSE_URL'] = await at.app.listen({ host: '127.0.0.1', port: 0 });
  process.env['GATEHOUSE_TOKEN'] = await tokenOf('ci');
  t.teardown(() => {
    delete process.env['GATEHOUSE_URL'];
    delete process.env['GATEHOUSE_TOKEN'];
  });
  const root = t.testdir({ 'a.pem': key, src: { 'b.pem': key }, Dockerfile: 'FROM debian\nUSER a\n' });
  execFileSync('git', ['init', '-q', '-b', 'trunk', root]);
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.test', '-c', 'commit.gpgsign=false'];
  const makeCommit = (): string => {
    execFileSync('git', ['-C', root, ...author, 'commit', '-q', '--allow-empty', '-m', 'x']);
    return execFileSync('git', ['-C', root, 'rev-parse', 'HEAD']).toString().trim();
  };
  const flags = ['--upload', '--no-cache', '--application', application];
  const scan = async (path: string, ...more: string[]) => {
    const original = console.error;
    const said: string[] = [];
    console.error = (...parts: unknown[]) => void said.push(parts.join(' '));
    try {
      const { code } = await captured(() => runScan([path, ...flags, ...more]));
      return { code, text: said.join('\n') };
    } finally {
      console.error = original;
    }
  };
  const found = async (): Promise<string[]> =>
    ((await call('GET', `/api/v1/findings?application_id=${application}&limit=100`)).body['items'] as Found[])
      .filter(({ source }) => source === 'secret')
      .map(({ location, status }) => `${location} ${status}`)
      .sort();

  await t.test('findings come with commit and branch of Git, and go when they are gone', async (t) => {
    const commit = makeCommit();
    const first = await scan(root);
    t.equal(first.code, 1, first.text);
    t.match(first.text, /scan\.sarif is import \d+: \d+ records, [1-9]\d* new findings, 0 closed/);
    t.same(await found(), ['a.pem:1 new', 'src/b.pem:1 new']);
    const [, id] = /is import (\d+)/.exec(first.text) ?? [];
    const { text } = await call('GET', `/api/v1/imports/${id}`);
    t.match(text, `"${commit}"`);
    t.match(text, '"trunk"');
    makeCommit();
    rmSync(join(root, 'a.pem'));
    t.equal((await scan(root, '--covers', 'part')).code, 1);
    t.same(await found(), ['a.pem:1 new', 'src/b.pem:1 new'], 'a part closes nothing of what it has not seen');
    const second = await scan(root);
    t.match(second.text, /0 new findings, 1 closed/);
    t.same(await found(), ['a.pem:1 resolved', 'src/b.pem:1 new']);
  });

  await t.test('what could not be read closes nothing', async (t) => {
    makeCommit();
    rmSync(join(root, 'Dockerfile'));
    writeFileSync(join(root, 'main.tf'), 'resource "a" {');
    const { code, text } = await scan(root, '--fail-on', 'never');
    t.equal(code, 2, text);
    t.match(text, /0 closed/);
    const rest = (
      (await call('GET', `/api/v1/findings?application_id=${application}&limit=100`)).body['items'] as Found[]
    )
      .filter(({ source }) => source === 'iac')
      .map(({ status }) => status);
    t.ok(rest.length > 0 && rest.every((one) => one === 'new'), rest.join());
  });

  await t.test('who may not is told what is missing, with the exit code 2', async (t) => {
    const refused = async (words: RegExp, more: readonly string[] = []): Promise<void> => {
      const error = await captured(() => runScan([root, ...flags, ...more])).then(
        ({ text }) => new Error(text),
        (one: unknown) => one as Refusal,
      );
      t.ok(error instanceof Refusal, String(words));
      t.match(error, { message: words, exitCode: 2 });
    };
    await refused(/no application 999999/, ['--application', '999999']);
    process.env['GATEHOUSE_TOKEN'] = await tokenOf('read');
    await refused(/403/);
    delete process.env['GATEHOUSE_TOKEN'];
    await refused(/GATEHOUSE_TOKEN is not set/);
  });
}

interface Found {
  readonly source: string;
  readonly location: string;
  readonly status: string;
}

void onBothDatabases(t, 'scan_upload', suite);
