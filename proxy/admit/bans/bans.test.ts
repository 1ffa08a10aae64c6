// Clients that go on although they are limited: banned within the request that crosses the line, longer each time,
// never where that would hit the wrong ones.
import fc from 'fast-check';
import t from 'tap';
import { createGateMemory } from '../../shared-state/gate-memory.js';
import { drive, type Drive, type Driven } from '../../road/testing/drive.js';
import { gates } from '../index.js';
import { testGateWorker, type TestWorker } from '../testing/gate-worker.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_122) });

const banning = {
  rl_enabled: true,
  rl_events: 1,
  rl_window: '1m',
  flood_autoban_enabled: true,
  flood_autoban_threshold: 3,
  flood_autoban_window_sec: 60,
  flood_autoban_duration_sec: 100,
};
const asking =
  ({ worker }: TestWorker, settings: object = banning) =>
  (request: Partial<Drive> = {}): Driven =>
    drive({ gates, worker, settings, ...request });
const statusOf = ({ answer }: Driven): number => answer?.status ?? 200;
const statuses = (count: number, ask: () => Driven): number[] => Array.from({ length: count }, () => statusOf(ask()));

t.test('2: the request that crosses the line is the ban, for every worker', async (t) => {
  const memory = createGateMemory(1024);
  const one = testGateWorker({}, memory);
  const other = testGateWorker({}, memory);
  const ask = asking(one);
  t.strictSame(statuses(3, ask), [200, 429, 429]);
  const { answer, events } = ask();
  t.equal(answer?.status, 403);
  t.match(events, [{ verdict: 'block', interruption: { ruleId: 1_006_200, action: 'deny', status: 403 } }]);
  t.match(events[0]?.messages[0]?.data, '192.0.2.1 zone=default limited=3 window_seconds=60 offence=1 ban_seconds=100');
  t.equal(statusOf(asking(other)()), 403, 'another worker knows at once');
  t.equal(statusOf(asking(other)({ clientIp: '192.0.2.2' })), 200);
  t.match(one.bans, [{ network: '192.0.2.1', zone: 'default', offence: 1, requestId: 'ID', threshold: 3 }]);
  t.equal(one.bans.length, 1);
});

t.test('2: a request on its way while another worker makes the ban is refused by it, and not counted', async (t) => {
  const memory = createGateMemory(1024);
  const one = testGateWorker({}, memory);
  const late = testGateWorker({}, memory);
  t.strictSame(statuses(4, asking(one)), [200, 429, 429, 403]);
  // it passed the gate of the bans before there was one
  late.worker.tables.bans.bannedUntil = () => 0;
  t.equal(statusOf(asking(late)()), 403);
  t.equal(late.bans.length, 0, 'it is the ban of the other one');
  t.strictSame(
    one.bans.map(({ offence }) => offence),
    [1],
  );
});

t.test('2: a ban ends, the next one is twice as long, and denials do not feed it', async (t) => {
  const test = testGateWorker();
  const ask = asking(test);
  const offend = (): number => {
    let requests = 0;
    while (statusOf(ask()) !== 403) requests += 1;
    return requests;
  };
  const isBanned = (): boolean => statusOf(ask()) === 403;
  offend();
  for (const seconds of [100, 200, 400]) {
    for (let index = 0; index < 50; index += 1) ask();
    test.pass((seconds - 1) * 1000);
    t.ok(isBanned(), `${seconds - 1} s`);
    test.pass(1500);
    t.notOk(isBanned(), `${seconds} s`);
    offend();
  }
  t.strictSame(
    test.bans.map(({ offence }) => offence),
    [1, 2, 3, 4],
  );
});

t.test('2: lifting a ban forgets it; an IPv6 client is banned by its /64', async (t) => {
  const test = testGateWorker();
  const ask = asking(test);
  const from = (clientIp: string) => () => ask({ clientIp });
  t.strictSame(statuses(4, from('2001:db8::1')), [200, 429, 429, 403]);
  t.equal(statusOf(from('2001:db8::9')()), 403);
  t.equal(test.bans[0]?.network, '2001:db8::/64');
  const { client, tables, clock } = test.worker;
  client.read('2001:db8::');
  t.ok(tables.bans.lift(client.low, client.high, clock.monotonicMs()));
  t.notOk(tables.bans.lift(client.low, client.high, clock.monotonicMs()));
  t.not(statusOf(from('2001:db8::9')()), 403);
});

t.test('2: who is never banned', async (t) => {
  const never = (test: TestWorker, settings: object, request: Partial<Drive> = {}, site = {}): void => {
    const ask = asking(test, { ...banning, ...settings });
    const seen = new Set(statuses(30, () => ask({ site, ...request })));
    t.notOk(seen.has(403), JSON.stringify([settings, request, site, [...seen]]));
    t.equal(test.bans.length, 0);
  };
  never(testGateWorker(), { flood_autoban_exempt: ['192.0.2.0/24'] });
  never(testGateWorker(), { rl_trust_proxy: true, rl_trusted_proxies: ['192.0.2.1'] });
  never(testGateWorker({ banSafe: { contains: (address) => address === '192.0.2.1' } }), {});
  never(testGateWorker(), { rl_dry_run: true });
  never(testGateWorker(), { flood_autoban_enabled: false });
  never(testGateWorker(), {}, {}, { mode: 'DetectionOnly' });
  never(testGateWorker(), { rl_enabled: false, flood_global_enabled: true, flood_global_events: 1 });
});

t.test('2: behind a trusted proxy the client is banned, not the proxy', async (t) => {
  const test = testGateWorker();
  const settings = { ...banning, rl_trust_proxy: true, rl_trusted_proxies: ['192.0.2.1'] };
  const ask = asking(test, settings);
  const via = (client: string) => () => ask({ headers: ['X-Forwarded-For', client] });
  t.strictSame(statuses(4, via('198.51.100.7')), [200, 429, 429, 403]);
  t.equal(statusOf(via('198.51.100.8')()), 200);
  t.equal(test.bans[0]?.network, '198.51.100.7');
});

t.test('2: an address with many clients behind it is limited, never banned, and the event says why', async (t) => {
  const test = testGateWorker();
  const ask = asking(test, { ...banning, flood_autoban_threshold: 60 });
  let last = ask();
  for (let client = 1; client < 120; client += 1) last = ask({ headers: ['X-Forwarded-For', `198.51.100.${client}`] });
  t.equal(statusOf(last), 429);
  t.equal(test.bans.length, 0);
  test.pass(1000);
  t.match(ask({ headers: ['X-Forwarded-For', '198.51.100.1'] }).events, [{ messages: [{ ruleId: 1_006_201 }] }]);
  const few = testGateWorker();
  const askFew = asking(few);
  for (let index = 0; index < 6; index += 1) askFew({ headers: ['X-Forwarded-For', `10.0.0.${index % 3}`] });
  t.equal(few.bans.length, 1, 'three values are one client that makes them up');
});

t.test('2: property: as a slow twin that keeps all moments has it', async (t) => {
  const step = fc.record({ client: fc.nat(3), waitMs: fc.constantFrom(0, 10, 1000, 70_000, 150_000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.integer({ min: 1, max: 4 }), (steps, threshold) => {
      const test = testGateWorker();
      const { worker } = test;
      const ask = asking(test, { ...banning, flood_autoban_threshold: threshold });
      const until = [0, 0, 0, 0];
      const offences = [0, 0, 0, 0];
      for (const { client, waitMs } of steps) {
        test.pass(waitMs);
        const before = test.bans.length;
        const status = statusOf(ask({ clientIp: `192.0.2.${client}` }));
        const nowMs = worker.clock.monotonicMs();
        if ((until[client] as number) > nowMs && status !== 403) return false;
        if ((until[client] as number) <= nowMs && status === 403 && test.bans.length === before) return false;
        if (test.bans.length > before) {
          const ban = test.bans.at(-1);
          offences[client] = (offences[client] as number) + 1;
          if (ban?.offence !== offences[client]) return false;
          until[client] = nowMs + 100_000 * 2 ** (ban.offence - 1);
        }
      }
      return true;
    }),
    { numRuns: 100 },
  );
  t.pass();
});
