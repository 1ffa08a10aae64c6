// Six attack waves beside 10,000 honest clients, through the engine: each wave is detected at its rung, and no honest
// client is blocked or challenged.
import t from 'tap';
import type { ClientWindow } from '#proxy/contract';
import { bitmapOf, specified, windowOf } from '../testing/clients.js';
import { ladderOf, type Rung } from './fusion.js';
import type { Policy } from './policy.js';
import { DetectionEngine } from './round.js';
import type { VectorThreat } from './vector.js';

const startMs = Date.parse('2026-03-02T00:00:00Z');
const hourMs = 3_600_000;
const policy: Policy = {
  action: 'block',
  threshold: 80,
  ladder: ladderOf(80),
  weights: specified,
  windowMs: 300_000,
  blockMs: 600_000,
};
let state = 5;
const next = (most: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * most);
};
const addressOf = (index: number): string => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;

/**
 * An honest client: pages of a shop, an answer of 404 now and then, a forgotten password, rarely a match of a rule that
 * is none; some are apps, programs or many people behind one address.
 */
function honestOf(index: number, nowMs: number): ClientWindow {
  const kind = next(100);
  const people = kind === 0 ? 30 : 1;
  const requests = (5 + next(40)) * people;
  const absent = next(8) === 0 ? 1 + next(2) : 0;
  const failures = next(30) === 0 ? 1 + next(3) : 0;
  const isMatched = next(100) === 0;
  const agent = people === 1 && kind < 5 ? 'automation' : kind < 15 ? 'mobile-app' : 'browser';
  return windowOf(addressOf(index), nowMs, {
    first_ms: nowMs - 60_000 - next(200_000),
    requests,
    not_found: absent,
    login_failures: failures,
    denied: failures,
    ok: requests - absent - failures,
    request_bytes: next(3) === 0 ? next(20_000) : 0,
    response_bytes: requests * (2000 + next(60_000)),
    agents: { [agent]: requests },
    paths: bitmapOf(Math.min(requests, 3 + next(25)), 512),
    sessions: bitmapOf(people, 256),
    user_agents: bitmapOf(Math.min(people, 6), 64),
    shapes: Array.from({ length: 3 + next(6) }, () => 1 + next(14)),
    ...(isMatched
      ? { blocked: 1, score_max: 5, score_sum: 5, groups: { '942': 1 }, rules: { '942100': 1 }, samples: ['x'] }
      : {}),
  });
}

const attacking = (group: string, rule: string, count: number): Partial<ClientWindow> => ({
  requests: count,
  blocked: count,
  ok: 0,
  score_max: 20,
  score_sum: 20 * count,
  groups: { [group]: count },
  rules: { [rule]: count },
});
interface Wave {
  /** Of a new installation, and of one that has learned what is usual. */
  readonly rungs: readonly [Rung, Rung];
  readonly code: string;
  readonly window: Partial<ClientWindow>;
  readonly threats?: readonly VectorThreat[];
}
const waves: Readonly<Record<string, Wave>> = {
  sqli: { rungs: ['BLOCK', 'BLOCK'], code: 'sig.sqli', window: attacking('942', '942100', 12) },
  xss: { rungs: ['BLOCK', 'BLOCK'], code: 'sig.xss', window: attacking('941', '941100', 12) },
  cred_stuffing: {
    rungs: ['CHALLENGE', 'CHALLENGE'],
    code: 'abuse.login-failures',
    window: { requests: 150, ok: 0, denied: 150, login_failures: 150, agents: { automation: 150 } },
  },
  bola: {
    rungs: ['CHALLENGE', 'BLOCK'],
    code: 'abuse.bola',
    window: {
      requests: 300,
      ok: 200,
      denied: 100,
      paths: bitmapOf(280, 512),
      shapes: [3],
      agents: { automation: 300 },
    },
    threats: [{ id: 'f', kind: 'bola', severity: 'high', count: 280 }],
  },
  l7_flood: { rungs: ['RATE_LIMIT', 'RATE_LIMIT'], code: 'anomaly.rate', window: { requests: 9000, ok: 9000 } },
  anomaly: {
    rungs: ['BLOCK', 'BLOCK'],
    code: 'anomaly.novelty',
    window: {
      requests: 400,
      ok: 80,
      not_found: 320,
      paths: bitmapOf(400, 512),
      shapes: Array.from({ length: 64 }, (_, at) => 1000 + at),
      request_bytes: 400 * 200_000,
    },
  },
};

t.test('AI 5: six waves beside 10,000 honest clients: each is found, nobody else is blocked', async (t) => {
  const engine = new DetectionEngine();
  const clients = 10_000;
  const run = (nowMs: number, threats = new Map<string, readonly VectorThreat[]>()) =>
    engine.run({ nowMs, policy, threats, isFrozen: false });
  const touched = new Map<string, number>();
  const check = async (when: string, nowMs: number): Promise<void> => {
    const given = new Map<string, readonly VectorThreat[]>();
    for (const [at, wave] of Object.values(waves).entries()) {
      const address = `203.0.113.${at + 1}`;
      engine.take(
        [windowOf(address, nowMs, { sessions: '', ...wave.window, first_ms: nowMs - 60_000 })],
        300_000,
        nowMs,
      );
      if (wave.threats !== undefined) given.set(address, wave.threats);
    }
    const round = await run(nowMs, given);
    t.equal(round.clients, clients + 6);
    for (const [at, [name, wave]] of Object.entries(waves).entries()) {
      const one = round.judged.find(({ vector }) => vector.address === `203.0.113.${at + 1}`);
      const codes = one?.scored.signals.map(({ code }) => code) ?? [];
      t.comment(`${when}: ${name}: ${one?.scored.verdict} ${one?.scored.risk} ${JSON.stringify(one?.scored.layers)}`);
      if (when === 'learned' || wave.code !== 'anomaly.novelty')
        t.ok(codes.includes(wave.code), `${when}: ${name} is found by ${wave.code}`);
      t.equal(one?.scored.verdict, wave.rungs[when === 'new' ? 0 : 1], `${when}: ${name}`);
    }
    for (const { vector, scored } of round.judged)
      if (vector.address.startsWith('10.') && scored.verdict !== 'ALLOW')
        touched.set(scored.verdict, (touched.get(scored.verdict) ?? 0) + 1);
    // the bar is that nobody is blocked; who is slowed down is one whose faults add up, and is told by the figure
    t.equal(touched.get('BLOCK') ?? 0, 0, `${when}: nobody honest is blocked`);
    t.equal(touched.get('CHALLENGE') ?? 0, 0, `${when}: nobody honest is challenged`);
    t.ok((touched.get('RATE_LIMIT') ?? 0) <= 3, `${when}: ${touched.get('RATE_LIMIT') ?? 0} of 10,000 are slowed down`);
  };
  const feed = (nowMs: number): void => {
    for (let index = 0; index < clients; index += 1) engine.take([honestOf(index, nowMs)], 300_000, nowMs);
  };
  feed(startMs);
  await check('new', startMs);
  for (let hour = 1; hour <= 4; hour += 1) {
    feed(startMs + hour * hourMs);
    await run(startMs + hour * hourMs);
  }
  const nowMs = startMs + 5 * hourMs;
  feed(nowMs);
  await check('learned', nowMs);
});

t.test('AI 6: a layer that throws for a client is left out of its verdict and named; others are scored', async (t) => {
  const engine = new DetectionEngine();
  engine.take([windowOf('203.0.113.1', startMs, attacking('942', '942100', 12))], 300_000, startMs);
  engine.take([windowOf('203.0.113.2', startMs, attacking('941', '941100', 12))], 300_000, startMs);
  const threats = { get: (address: string) => (address === '203.0.113.1' ? [null] : []) };
  const round = await engine.run({ nowMs: startMs, policy, threats: threats as never, isFrozen: false });
  t.equal(round.judged.length, 2);
  for (const { scored } of round.judged) t.equal(scored.verdict, 'BLOCK');
  t.strictSame(round.judged.find(({ vector }) => vector.address === '203.0.113.1')?.vector.missing, ['api_abuse']);
  t.match(engine.evaluators.list(), [{ name: 'api_abuse', failures: 1 }]);
});

t.test('AI 5: nothing is learned while it is frozen, nor from whom a rule has spoken of', async (t) => {
  const engine = new DetectionEngine();
  const teach = async (day: number, isFrozen: boolean, over: Partial<ClientWindow> = {}): Promise<void> => {
    for (let hour = 0; hour < 8; hour += 1) {
      const nowMs = startMs + (day * 24 + hour) * hourMs;
      for (let client = 0; client < 50; client += 1)
        engine.take([windowOf(addressOf(client), nowMs, over)], 300_000, nowMs);
      await engine.run({ nowMs, policy, threats: new Map(), isFrozen });
    }
  };
  await teach(0, true);
  t.equal(engine.siteOf('shop')?.expect('rate', startMs).source, 'prior');
  await teach(1, false, { score_sum: 2, score_max: 2 });
  t.equal(engine.siteOf('shop')?.expect('rate', startMs).source, 'prior');
  await teach(2, false);
  t.equal(engine.siteOf('shop')?.expect('rate', startMs).source, 'all');
});
