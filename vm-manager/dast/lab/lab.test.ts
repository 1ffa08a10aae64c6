// The scanner against the lab: every planted flaw found, no safe twin reported, no trap walked, never logged out, and
// nothing asked that the target's bounds forbid.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { pause, until } from '#api/testing/waiting';
import { Budget, Rate } from '../http/pace.js';
import { createCallbacks } from '../run/callbacks.js';
import { Scanner, type ScanPlan } from '../run/scanner.js';
import { Lab, labUser, plantedFlaws, type Seen } from './lab.js';
import { templateOf } from '../http/forms.js';
import type { Found } from '../model.js';

t.setTimeout(240_000);
const way = createGuardedClient(['127.0.0.0/8']);
t.teardown(() => way.close());

const planFor = (
  lab: Lab,
  given: Omit<Partial<ScanPlan>, 'bounds'> & { bounds?: Partial<ScanPlan['bounds']> } = {},
): ScanPlan => ({
  runId: 'run-1',
  base: `${lab.origin}/`,
  profile: 'full',
  recipe: {
    type: 'form',
    loginUrl: `${lab.origin}/login`,
    user: labUser.name,
    secret: labUser.password,
    checkUrl: `${lab.origin}/account`,
    checkText: 'Hello alice',
  },
  seen: [{ method: 'GET', template: '/crash' }],
  callbacks: null,
  way,
  signal: new AbortController().signal,
  now: Date.now,
  rate: new Rate(),
  budget: new Budget({ requestsMax: 30_000, secondsMax: 200, ...given.bounds }),
  ...given,
  bounds: {
    origins: [lab.origin],
    scopePaths: [],
    excludedPaths: ['/private'],
    methods: ['GET', 'HEAD', 'OPTIONS', 'POST', 'TRACE'],
    requestsMax: 30_000,
    perSecond: 2000,
    secondsMax: 200,
    windows: [],
    ...given.bounds,
  },
});

const placeOf = ({ form }: Found): string => {
  const { pathname } = new URL(form.url);
  const path = pathname.replaceAll('%7B', '{').replaceAll('%7D', '}');
  return templateOf(path).replaceAll(/\{[^/]*\}/g, '{}');
};
const nameOf = (found: Found): string => `${found.check.id} ${placeOf(found)} ${found.param ?? ''}`.trim();

const asked = (seen: readonly Seen[], form: RegExp): string[] =>
  seen.filter(({ path }) => form.test(path)).map(({ path }) => path);

t.test('every flaw is found, no twin is reported, no trap is walked', async (t) => {
  let elsewhere = 0;
  const callbacks = createCallbacks(() => '');
  const other = createServer((request, reply) => {
    const answer = callbacks.take((request.url ?? '').slice(1));
    if (answer === null) elsewhere++;
    reply.end(answer ?? 'elsewhere');
  });
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const lab = await new Lab(address).start();
  t.teardown(async () => {
    other.closeAllConnections();
    other.close();
    await lab.close();
  });
  const scanner = new Scanner(planFor(lab, { callbacks: createCallbacksAt(callbacks, address) }));
  const { over } = await scanner.scan();
  t.equal(over, null, 'it came to its end');
  const found = scanner.found.map(nameOf);
  const missing = plantedFlaws.filter((one) => !found.includes(one));
  const wrong = found.filter((one) => !plantedFlaws.includes(one));
  const { requests, seconds } = scanner.coverage.toJson();
  t.comment(`${found.length} found of ${plantedFlaws.length}; ${requests} requests, ${seconds} s`);
  t.ok(plantedFlaws.length >= 40, `${plantedFlaws.length} flaws are planted`);
  t.same(missing, [], 'all are found');
  t.same(wrong, [], 'nothing else is reported');
  t.equal(new Set(found).size, found.length, 'each once');
  t.same(asked(lab.seen, /^\/(?:logout|session\/bye|items\/delete)/), [], 'no logout, nothing destroyed');
  t.ok(asked(lab.seen, /^\/account\/leave/).length <= 1, 'a page that ends the session is asked once at most');
  t.same(asked(lab.seen, /^\/priv(?:a|%61)te/i), [], 'excluded paths');
  t.equal(elsewhere, 0, 'out of scope');
  t.ok(
    lab.seen.every(({ run }) => run === 'run-1'),
    'each request says whose it is',
  );
  for (const trap of ['/calendar', '/days', '/s/', '/loop', '/blog'])
    t.ok(
      new Set(asked(lab.seen, new RegExp(`^${trap}`)).map((one) => new URL(one, lab.origin).pathname)).size < 120,
      trap,
    );
});

const createCallbacksAt = (callbacks: ReturnType<typeof createCallbacks>, address: string) => ({
  issue: () => {
    const call = callbacks.issue();
    return { ...call, url: `${address}/${call.token}` };
  },
});

t.test('a target that refuses is not taken for one without flaws', async (t) => {
  const lab = await new Lab().start();
  t.teardown(async () => lab.close());
  for (const status of [403, 404, 429, 503]) {
    lab.refuses = status;
    const { over } = await new Scanner(planFor(lab, { recipe: null })).scan();
    t.match(over, { reason: 'unreachable', message: new RegExp(`No page was reached.*${status}`) });
  }
  lab.refuses = null;
  const bounds = { scopePaths: ['/show/text', '/account', '/login'] };
  const seen = ['/show/text?term=a', '/account'].map((template) => ({ method: 'GET', template }));
  const place = `${lab.origin}/show/text`;
  const scan = async (status: number | null, withLogin: boolean) => {
    const plan = planFor(lab, { bounds, seen, ...(withLogin ? {} : { recipe: null }) });
    const scanner = new Scanner({
      ...plan,
      way: {
        ...way,
        send: async (url, call) => {
          if (scanner.coverage.phase === 'checks') lab.refuses = status;
          return way.send(url, call);
        },
      },
    });
    const outcome = await scanner.scan();
    lab.refuses = null;
    return { ...outcome, coverage: scanner.coverage };
  };
  const whole = await scan(null, true);
  t.equal(whole.over, null);
  t.ok(whole.found.map(nameOf).includes('xss-reflected /show/text term'));
  t.ok(whole.coverage.covers('xss-reflected', place) && whole.coverage.covers('path-traversal', place));
  t.notOk(whole.coverage.covers('ssrf', place), 'it was not looked for without a callback_url');
  t.notOk(whole.coverage.covers('exposed-file:/.env', `${lab.origin}/`), 'it is out of scope');
  for (const status of [401, 403, 429, 503]) {
    const { over, coverage } = await scan(status, false);
    t.equal(over, null, `${status} after the crawl`);
    for (const check of ['xss-reflected', 'path-traversal', 'sql-injection-boolean'])
      t.notOk(coverage.covers(check, place), `${status}: ${check} closes nothing`);
  }
  t.match((await scan(401, true)).over, { reason: 'unreachable', message: /login did not hold/ });
});

t.test('the bounds hold: rate, stop, budget, window', async (t) => {
  const lab = await new Lab().start();
  t.teardown(async () => lab.close());
  await t.test('rate', async (t) => {
    const scanner = new Scanner(planFor(lab, { recipe: null, bounds: { perSecond: 50, secondsMax: 3 } }));
    const { over } = await scanner.scan();
    t.equal(over?.reason, 'time');
    const times = lab.seen.map(({ atMs }) => atMs);
    const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
    // two that left at the ends of a second may come in within it
    t.ok(most > 20 && most <= 52, `${most} requests in the fullest second`);
  });
  await t.test('stop', async (t) => {
    lab.delayMs = 300;
    const stop = new AbortController();
    const scanner = new Scanner(planFor(lab, { recipe: null, signal: stop.signal }));
    const running = scanner.scan();
    await until('it crawls', async () => scanner.client.counts.requests >= 20);
    const [count, at] = [lab.seen.length, performance.now()];
    stop.abort();
    const { over } = await running;
    t.equal(over?.reason, 'stopped');
    t.ok(performance.now() - at < 1000, 'within a second');
    // what had left before the stop may come in a moment later
    await pause(50);
    const after = lab.seen.length;
    await pause(300);
    t.equal(lab.seen.length, after, 'nothing is asked afterwards');
    t.ok(after - count <= 4, 'but what was on its way');
    lab.delayMs = 0;
  });
  await t.test('budget and window', async (t) => {
    const before = lab.seen.length;
    const few = await new Scanner(planFor(lab, { bounds: { requestsMax: 30 } })).scan();
    t.equal(few.over?.reason, 'budget');
    t.equal(lab.seen.length - before, 30);
    const windows = [{ days: [1], from: '10:00', to: '11:00' }];
    const closed = await new Scanner(
      planFor(lab, { now: () => Date.UTC(2026, 10, 28, 10, 30), bounds: { windows } }),
    ).scan();
    t.equal(closed.over?.reason, 'window');
    t.equal(lab.seen.length - before, 30, 'nothing was asked');
  });
});
