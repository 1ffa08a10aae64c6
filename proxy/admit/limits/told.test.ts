// What answers to requests that pass tell of limits: held to what the limit then does, for random limits and moments.
import t from 'tap';
import { drive, type Drive, type Driven } from '../../road/testing/drive.js';
import { gates } from '../index.js';
import { testGateWorker } from '../testing/gate-worker.js';

function client(settings: object) {
  const { worker, pass } = testGateWorker();
  const ask = (request: Partial<Drive> = {}): Driven => drive({ gates, worker, settings, ...request });
  return { ask, pass };
}
const fieldOf = ({ told }: Driven, name: string): string | undefined => told[told.indexOf(name) + 1];

t.test('E10.1: nothing is told where no limit says so', async (t) => {
  const zone = { name: 'api', match_path: '/', key: 'ip', events: 9, window: '1m' };
  const { ask } = client({ rl_enabled: true, rl_events: 9, rl_zones: [zone] });
  t.same(ask().told, []);
  t.same(client({ rl_enabled: false, rl_headers: true }).ask().told, []);
});

t.test('E10.1: each limit that says so has a member in both fields', async (t) => {
  const { ask, pass } = client({
    rl_enabled: true,
    rl_events: 3,
    rl_window: '1m',
    rl_headers: true,
    rl_zones: [
      { name: 'api', match_path: '/api', key: 'ip', events: 10, window: '10s', headers: true },
      { name: 'quiet', match_path: '/', key: 'ip', events: 10, window: '10s' },
    ],
    endpoint_limits: [{ path: '/api/{id}', method: 'GET', events: 2, window: '1h', headers: true }],
  });
  const first = ask({ uri: '/api/1' });
  t.equal(first.isForwarded, true);
  t.equal(fieldOf(first, 'RateLimit-Policy'), '"default";q=3;w=60, "api";q=10;w=10, "GET /api/{id}";q=2;w=3600');
  t.equal(fieldOf(first, 'RateLimit'), '"default";r=2;t=20, "api";r=9;t=1, "GET /api/{id}";r=1;t=1800');
  t.equal(fieldOf(ask({ uri: '/x' }), 'RateLimit'), '"default";r=1;t=40');
  pass(20_000);
  t.equal(fieldOf(ask({ uri: '/x' }), 'RateLimit'), '"default";r=1;t=40', 'a place came back meanwhile');
  const other = ask({ uri: '/x', clientIp: '192.0.2.200' });
  t.equal(fieldOf(other, 'RateLimit'), '"default";r=2;t=20', 'each client has its own');
});

t.test('E10.1: so many as are told pass at once, and not one more', async (t) => {
  let state = 11;
  const next = (most: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  for (let round = 0; round < 60; round += 1) {
    const events = 1 + next(30);
    const seconds = 1 + next(90);
    const { ask, pass } = client({ rl_enabled: true, rl_events: events, rl_window: `${seconds}s`, rl_headers: true });
    let last = ask();
    for (let step = next(10); step > 0; step -= 1) {
      pass(next(seconds * 300));
      const answer = ask();
      if (answer.isForwarded) last = answer;
      else pass(seconds * 1000);
    }
    if (!last.isForwarded) continue;
    last = ask();
    if (!last.isForwarded) continue;
    const told = Number(/r=(\d+)/.exec(fieldOf(last, 'RateLimit') ?? '')?.[1]);
    let passed = 0;
    while (ask().isForwarded) passed += 1;
    t.equal(passed, told, `${events} in ${seconds} s`);
  }
});

t.test('E10.1: of a limit that nodes share the policy alone is told', async (t) => {
  const settings = { rl_enabled: true, rl_events: 3, rl_headers: true, rl_distributed: true };
  const { told } = client(settings).ask();
  t.equal(told.includes('RateLimit'), false);
  if (told.length > 0) t.equal(told[1], '"default";q=3;w=60');
});
