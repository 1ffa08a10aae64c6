// `gatehouse gate` against a server that answers as /api/v1 does: what it sends, what it writes, how it ends.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Refusal } from '../../refusal.js';
import { captured } from '../../testing/rule-command.js';
import { runGate } from './gate.js';

interface Asked {
  readonly line: string;
  readonly token: string;
  readonly body: string;
}

const evaluation = (exit: number) => ({
  evaluation_id: '7',
  verdict: exit === 0 ? 'pass' : 'fail',
  exit_code: exit,
  reason: exit === 2 ? 'no completed scan for commit' : '',
  gate: { name: 'default' },
  conditions: [{ name: 'new_critical', op: 'lte', threshold: 0, actual: exit, ok: exit === 0 }],
  new_findings: exit,
  open_findings: 3,
  excluded: 1,
  chains: exit === 1 ? [{ name: 'Entry → Impact on Shop', score: 81, danger: true }] : [],
  override: null,
});

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}

type Answer = readonly [status: number, body: unknown];

/** A server on loopback; the answer of a path, and what was asked. */
async function server(t: Test, answerOf: (line: string) => Answer): Promise<Asked[]> {
  const asked: Asked[] = [];
  const made = createServer((request, reply) => {
    void textOf(request).then((body) => {
      const line = `${request.method} ${request.url}`;
      asked.push({ line, token: request.headers.authorization ?? '', body });
      const [status, answer] = answerOf(line);
      reply.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
      reply.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  await new Promise<void>((done) => made.listen(0, '127.0.0.1', done));
  process.env['GATEHOUSE_URL'] = `http://127.0.0.1:${(made.address() as AddressInfo).port}/`;
  process.env['GATEHOUSE_TOKEN'] = 'apt_secret';
  t.teardown(() => {
    delete process.env['GATEHOUSE_URL'];
    delete process.env['GATEHOUSE_TOKEN'];
    made.closeAllConnections();
    made.close();
  });
  return asked;
}

const question = ['--application', '3', '--commit', 'c2'];

t.test('gate: it ends with 0, 1 or 2 as the evaluation says, and tells why', async (t) => {
  for (const exit of [0, 1, 2]) {
    const asked = await server(t, () => [200, evaluation(exit)]);
    const { code, text } = await captured(() => runGate([...question, '--baseline', 'c1']));
    t.equal(code, exit);
    t.match(text, exit === 0 ? /^pass: the commit may go on/ : /^fail: the commit must not go on/);
    t.match(text, /new_critical lte 0/);
    if (exit === 1) t.match(text, /81 DANGER: Entry → Impact on Shop/);
    t.match(asked, [{ line: 'POST /api/v1/gate/evaluate', token: 'Bearer apt_secret' }]);
    t.strictSame(JSON.parse(asked[0]?.body ?? ''), { application_id: '3', commit: 'c2', baseline: 'c1' });
  }
});

t.test('gate: an exit code that it does not know is not taken for a yes', async (t) => {
  await server(t, () => [200, { ...evaluation(0), exit_code: undefined }]);
  t.equal((await captured(() => runGate(question))).code, 2);
});

t.test('gate: JUnit, SARIF and JSON are written to files', async (t) => {
  const folder = t.testdir({});
  await server(t, (line) => [200, line.startsWith('GET') ? `<${line}>` : evaluation(1)]);
  const files = ['junit', 'sarif', 'json'].map((name) => join(folder, name));
  const flags = ['--junit', files[0] ?? '', '--sarif', files[1] ?? '', '--json', files[2] ?? ''];
  t.equal((await captured(() => runGate([...question, ...flags]))).code, 1);
  const [junit, sarif, json] = files.map((path) => readFileSync(path, 'utf8'));
  t.equal(junit, '<GET /api/v1/gate/evaluations/7?format=junit>');
  t.equal(sarif, '<GET /api/v1/gate/evaluations/7?format=sarif>');
  t.match(JSON.parse(json ?? ''), { evaluation_id: '7' });
});

t.test('gate: reports are sent into a run of the pipeline, which ends with the verdict', async (t) => {
  const report = join(t.testdir({}), 'report.sarif');
  writeFileSync(report, '{"version":"2.1.0"}');
  const asked = await server(t, (line) => {
    if (line.endsWith('/ci/runs')) return [202, { id: '9' }];
    if (line.endsWith('/artifacts')) return [202, { result: { parsed: 4, created: 2 } }];
    return [200, evaluation(0)];
  });
  t.equal((await captured(() => runGate([...question, '--branch', 'main', '--report', report]))).code, 0);
  t.strictSame(
    asked.map(({ line }) => line),
    ['POST /api/v1/ci/runs', 'POST /api/v1/ci/runs/9/artifacts', 'POST /api/v1/ci/runs/9/complete'],
  );
  t.strictSame(JSON.parse(asked[0]?.body ?? ''), { application_id: '3', commit: 'c2', branch: 'main' });
  t.match(asked[1]?.body, /filename="report\.sarif"[\s\S]*\{"version":"2\.1\.0"\}/);
});

t.test('gate: whatever keeps it from asking ends with 2 and says how to fix it', async (t) => {
  const refused = async (args: readonly string[], words: RegExp): Promise<void> => {
    const error = await runGate(args).then(
      () => null,
      (one: unknown) => one as Refusal,
    );
    t.ok(error instanceof Refusal, String(words));
    t.equal(error?.exitCode, 2, String(words));
    t.match(error?.message, words);
    t.notMatch(error?.message, /apt_secret/, 'the token is never told');
  };
  await refused(question, /GATEHOUSE_TOKEN is not set/);
  const statuses: readonly Answer[] = [
    [401, { detail: 'The token is "over".' }],
    [403, { detail: 'no' }],
    [404, { detail: 'There is no application 3.' }],
    [500, 'oh'],
    [302, ''],
    [200, '<html>'],
  ];
  const words = [
    /The token is "over"\.\s+Fix: GATEHOUSE_TOKEN/,
    /scope `ci`/,
    /no application 3/,
    /500: oh/,
    /--url/,
    /no JSON/,
  ];
  for (const [index, answer] of statuses.entries())
    await t.test(`answer ${answer[0]}`, async (t) => {
      await server(t, () => answer);
      await refused(question, words[index] as RegExp);
    });
  await t.test('a file that cannot be written', async (t) => {
    await server(t, () => [200, evaluation(0)]);
    await refused([...question, '--json', join(t.testdir({}), 'no', 'such', 'folder')], /ENOENT/);
  });
  process.env['GATEHOUSE_TOKEN'] = 'apt_secret';
  await refused([...question, '--url', 'http://127.0.0.1:1'], /--url/);
  await refused([...question, '--url', 'ftp://x'], /is no URL/);
  await refused([...question, '--report', '/nowhere/at/all'], /no such file/);
  await refused(['--commit', 'c'], /needs --application/);
  await refused([...question, '--no-such-flag'], /no-such-flag/);
  process.env['GATEHOUSE_TOKEN'] = 'secret';
  await refused(question, /no apt_ token/);
  delete process.env['GATEHOUSE_TOKEN'];
});
