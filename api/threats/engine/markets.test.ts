// The bar of abuse findings on businesses of many shapes: thieves of every kind are found, and no honest client is
// accused. With `SEED=n` other ones; a number behind the file is that of requests: 50000 is a day of each business.
import t from 'tap';
import { testMsMax } from '../../testing/waiting.js';
import { Market } from '../testing/market/market.js';
import { shapes, type Shape } from '../testing/market/shapes.js';
import { acts, climb, steal, type Theft } from '../testing/market/thieves.js';
import { shopKey } from '../testing/shop.js';
import { ThreatEngine } from './engine.js';
import type { Finding } from './finding.js';

t.setTimeout(testMsMax);
const requests = Number(process.argv[2] ?? 5000);
const options = { threshold: 20, windowMs: 60_000, settleMs: 15_000 };

function judgeAll(market: Market): Finding[] {
  const engine = new ThreatEngine({ key: shopKey, templateOf: () => null });
  const findings: Finding[] = [];
  let judged = 0;
  for (const window of market.shop.end()) {
    engine.feed(window);
    const nowMs = Math.max(0, ...window.observations.map(({ last_ms: lastMs }) => lastMs));
    if (nowMs - judged < 15_000) continue;
    judged = nowMs;
    findings.push(...engine.judge({ ...options, nowMs }));
  }
  return [...findings, ...engine.judge({ ...options, nowMs: market.shop.nowMs + 60_000 })];
}

interface Score {
  readonly shape: string;
  readonly missed: readonly Theft[];
  readonly thefts: number;
  readonly wrong: readonly Finding[];
}

function score(shape: Shape, seed: number): Score {
  const market = new Market(shape, seed);
  for (const who of market.people) market.create(who);
  const thefts: Theft[] = [];
  const kinds = [...Object.keys(acts), 'climbs'];
  const due = (at: number): number => Math.floor(requests * (0.4 + (0.5 * at) / kinds.length));
  while (market.shop.requests < requests) {
    const kind = kinds[thefts.length];
    if (kind !== undefined && market.shop.requests >= due(thefts.length)) {
      const theft = kind === 'climbs' ? climb(market, thefts.length) : steal(market, kind, thefts.length);
      if (theft !== null) thefts.push(theft);
    }
    market.live();
  }
  const findings = judgeAll(market);
  const proven = new Set(findings.flatMap(({ evidence }) => evidence.map(({ request_id: id }) => id)));
  const thieves = new Set(thefts.flatMap(({ requests: own }) => own));
  return {
    shape: shape.name,
    thefts: thefts.length,
    missed: thefts.filter(({ requests: own }) => !own.some((id) => proven.has(id))),
    wrong: findings.filter(({ evidence }) => !evidence.some(({ request_id: id }) => thieves.has(id))),
  };
}

const seed = Number(process.env['SEED'] ?? 24);
const scores = shapes.map((shape, at) => score(shape, seed + at));

for (const { shape, thefts, missed, wrong } of scores)
  t.test(`24: ${shape}: ${thefts} thieves among ${requests} requests`, async (t) => {
    t.same(
      wrong.map(({ kind, method, template, reason }) => `${kind} ${method} ${template}: ${reason}`),
      [],
      'no honest client is accused',
    );
    for (const { kind, thief } of missed) t.comment(`missed: ${kind} ${thief}`);
  });

t.test('24: at least 29 of 30 thieves are found', async (t) => {
  const all = scores.reduce((sum, { thefts }) => sum + thefts, 0);
  const missed = scores.reduce((sum, { missed: own }) => sum + own.length, 0);
  t.comment(`${all - missed} of ${all} found, ${scores.reduce((sum, { wrong }) => sum + wrong.length, 0)} wrong`);
  t.ok(missed * 30 <= all, `${missed} of ${all} missed`);
});
