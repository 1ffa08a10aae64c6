// The bar of abuse findings: a shop of 200 users, 100,000 honest requests without a finding, and every theft found with
// the two requests that show it. Through the observer of the data plane and the evaluation as it runs.
import t from 'tap';
import type { ObservationBatch } from '#proxy/contract';
import { honest, newWorld, type World } from '../testing/honest.js';
import { person, randomOf, shopKey, type CredentialStyle } from '../testing/shop.js';
import { testMsMax } from '../../testing/waiting.js';
import { ThreatEngine } from './engine.js';
import type { Finding } from './finding.js';

t.setTimeout(testMsMax);
const options = { threshold: 20, windowMs: 60_000, settleMs: 15_000 };

/** Judged every fifteen seconds of the shop's time, as the job does. */
function judgeAll(windows: readonly ObservationBatch[], endMs: number): Finding[] {
  const engine = new ThreatEngine({ key: shopKey, templateOf: () => null });
  const findings: Finding[] = [];
  let judged = 0;
  for (const window of windows) {
    engine.feed(window);
    const nowMs = Math.max(0, ...window.observations.map(({ last_ms: lastMs }) => lastMs));
    if (nowMs - judged < 15_000) continue;
    judged = nowMs;
    findings.push(...engine.judge({ ...options, nowMs }));
  }
  return [...findings, ...engine.judge({ ...options, nowMs: endMs + 60_000 })];
}

const ofKind = (findings: readonly Finding[], kind: Finding['kind']): Finding[] =>
  findings.filter((one) => one.kind === kind);

for (const style of ['jwt', 'api-key', 'session'] as readonly CredentialStyle[])
  t.test(`B3: 100,000 honest requests of 200 users make no finding (${style})`, async (t) => {
    const world = newWorld(200, style);
    honest(world, 20_260_301, style === 'jwt' ? 100_000 : 10_000, undefined, style);
    const findings = judgeAll(world.shop.end(), world.shop.nowMs);
    t.same(
      findings.map(({ kind, template, reason }) => `${kind} ${template} ${reason}`),
      [],
    );
  });

interface Theft {
  readonly request: string;
  readonly order: number;
}

function steal(world: World, thefts: Theft[], thief: ReturnType<typeof person>, at: number): void {
  const { shop, orders } = world;
  // another one each time: reading the same object again is the same theft
  const taken = new Set(thefts.map(({ order }) => order));
  const strangers = orders.filter(({ id, owner }) => owner.number !== thief.number && !taken.has(id));
  const { id } = strangers[at % strangers.length] as World['orders'][number];
  const request = shop.ask(thief, { uri: `/api/orders/${id}`, reply: { id, customer_id: 3 } });
  thefts.push({ request, order: id });
}

for (const thieves of [1, 4, 20])
  for (const style of ['jwt', 'session'] as const)
    t.test(`B3: 20 thefts by ${thieves} among honest traffic are found with both requests (${style})`, async (t) => {
      const world = newWorld(200, style);
      const thefts: Theft[] = [];
      const random = randomOf(4);
      honest(
        world,
        7,
        10_000,
        (requests) => {
          if (requests > 4000 && thefts.length < 20 && requests > 4000 + thefts.length * 250)
            steal(world, thefts, person(1 + (thefts.length % thieves) * 7, style), Math.floor(random() * 1e6));
        },
        style,
      );
      const findings = ofKind(judgeAll(world.shop.end(), world.shop.nowMs), 'bola_ownership');
      const pairs = new Map(
        findings.flatMap(({ evidence }) => evidence.map((one) => [one.request_id, one.other_request_id] as const)),
      );
      t.equal(thefts.length, 20);
      t.same(
        thefts.filter(({ request }) => (pairs.get(request) ?? '') === ''),
        [],
        'each with its request and the owner’s',
      );
      t.equal(pairs.size, 20, 'and nothing else');
    });
