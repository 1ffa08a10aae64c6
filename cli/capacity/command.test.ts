// `gatehouse capacity` as it is typed, with a data plane of its own, for a few seconds; and the load that it makes.
import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { bareEnvironment, makeDirectory } from '#api/testing/temporary';
import { testMsMax } from '#api/testing/waiting';
import { automataCacheDirectory, program, root } from '../environment/directories.js';
import { load, openBackend, wholeMessages } from './load.js';
import { cpuMsOf } from './plane.js';
import { createTraffic } from './traffic.js';

t.setTimeout(testMsMax);
const run = promisify(execFile);

t.test('messages are told apart by their length, wherever they are cut', (t) => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const refusal = 'HTTP/1.1 403 Forbidden\r\nX: y\r\ncontent-length: 0\r\n\r\n';
  for (let cut = 0; cut < answer.length; cut += 1) t.equal(wholeMessages(answer.slice(0, cut)).count, 0);
  t.same(wholeMessages(answer + refusal + answer.slice(0, 9)), {
    count: 2,
    length: answer.length + refusal.length,
    statuses: [200, 403],
  });
  t.end();
});

t.test('requests are whole, five kinds in turn, with fresh values', (t) => {
  const next = createTraffic();
  const requests = Array.from({ length: 10 }, next);
  t.same(
    requests.slice(0, 5).map((text) => text.slice(0, text.indexOf('/', 3)).trim()),
    ['GET', 'GET', 'GET', 'POST', 'POST'],
  );
  t.equal(wholeMessages(requests.join('')).count, 10, 'each has the length that it says');
  t.equal(new Set(requests).size, 10);
  t.end();
});

t.test('what is asked is answered and counted', async (t) => {
  const backend = await openBackend();
  t.teardown(() => backend.close());
  const { requests, refused, broken } = await load(backend.port, 4, 300);
  t.ok(requests > 4, `${requests} requests`);
  t.same([refused, broken], [0, 0]);
});

t.test('processor time is read whatever the process is called', (t) => {
  t.equal(cpuMsOf('12 (a ) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0'), 3000);
  t.end();
});

t.test('the command measures and says what it did not measure', async (t) => {
  const data = await makeDirectory(t, 'capacity');
  await mkdir(join(data, 'cache'));
  await symlink(automataCacheDirectory(), join(data, 'cache/automata')); // seconds instead of half a minute
  const env = { ...bareEnvironment(), GATEHOUSE_DATA: data, CRS_DIR: process.env['CRS_DIR'] ?? '' };
  const asked = [program, 'capacity', '--seconds', '4', '--workers', '2', '--json'];
  const { stdout } = await run(process.execPath, asked, { cwd: root, env });
  const told = JSON.parse(stdout) as Record<string, unknown> & {
    readonly runs: readonly {
      readonly workers: number;
      readonly requests: number;
      readonly cpu_us_per_request: number;
    }[];
  };
  t.same(
    told.runs.map(({ workers }) => workers),
    [1, 2],
  );
  for (const one of told.runs) {
    t.ok(one.requests > 20, `${one.requests} requests`);
    t.ok(one.cpu_us_per_request > 5 && one.cpu_us_per_request < 20_000, `${one.cpu_us_per_request} µs`);
  }
  t.match(told, { bar_us: 200, rules: { paranoia_level: 1 } });
  t.match((told['not_measured'] as string[]).join(), /TLS/);
  const left = await readdir(join(data, 'capacity'));
  t.notOk(
    left.some((name) => name.startsWith('plane-')),
    'the planes have left nothing',
  );
});

t.test('wrong words are told', async (t) => {
  for (const [words, said] of [
    [['--seconds', '1'], /--seconds 1: a whole number from 2 to 600/],
    [['--paranoia', '5'], /from 1 to 4/],
    [['now'], /capacity does not know now/],
  ] as const) {
    const asked = run(process.execPath, [program, 'capacity', ...words], { cwd: root, env: bareEnvironment() });
    const problem = (await asked.catch((error: unknown) => error)) as {
      readonly code: number;
      readonly stderr: string;
    };
    t.equal(problem.code, 2);
    t.match(problem.stderr, said);
  }
});
