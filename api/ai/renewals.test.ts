// issue 22 E: other systems hear of a measure when it begins, changes or comes back, and not of each renewal.
import t, { type Test } from 'tap';
import { principalKeyOf, type ClientWindow } from '#proxy/contract';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { decide, type Decision } from '../measures/store.js';
import { enforce } from './enforce.js';
import { ladderOf } from './engine/fusion.js';
import type { Policy } from './engine/policy.js';
import { DetectionEngine } from './engine/round.js';
import { specified, windowOf } from './testing/clients.js';

const beganMs = 1_800_000_000_000;
const blockMs = 60_000;
const policy: Policy = {
  ...{ action: 'block', threshold: 80, ladder: ladderOf(80), weights: specified, windowMs: 300_000, blockMs },
};
const address = '203.0.113.7';
const principal = { kind: 'jwt', id: '1'.padStart(16, '0') } as const;

const attack = (over: Partial<ClientWindow>, atMs: number): ClientWindow =>
  windowOf(address, atMs, {
    ...{ requests: 20, blocked: 12, ok: 8, score_max: 15, score_sum: 180 },
    ...{ groups: { '942': 12 }, rules: { '942100': 12 }, ...over },
  });

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { sql } = database;
  await sql`insert into siem_connectors (name, enabled) values ('somebody', true)`;
  const events = async (network: string) =>
    (await sql`select 1 from siem_outbox where kind = 'verdict' and body ->> 'network' = ${network}`).length;
  for (const [who, over, network] of [
    ['an address', {}, address],
    ['a principal', { principal }, principalKeyOf(principal)],
  ] as const)
    await t.test(who, async (t) => {
      const roundAfter = async (seconds: number): Promise<void> => {
        const nowMs = beganMs + seconds * 1000;
        const engine = new DetectionEngine();
        engine.take([attack(over, nowMs)], policy.windowMs, nowMs);
        const { judged } = await engine.run({ nowMs, policy, threats: new Map(), isFrozen: false });
        t.equal(judged[0]?.scored.verdict, 'BLOCK');
        await sql.begin((tx) => enforce(tx, { audit: at.parts.audit, proxies: [] }, policy, judged, new Date(nowMs)));
      };
      await roundAfter(0);
      t.equal(await events(network), 1, 'it begins');
      for (let seconds = 15; seconds <= 600; seconds += 15) await roundAfter(seconds);
      t.equal(await events(network), 1, 'ten minutes of a ban of one minute');
      await roundAfter(600 + 75);
      t.equal(await events(network), 1, 'a round that came late is a renewal');
      await roundAfter(1200);
      t.equal(await events(network), 2, 'it comes back after a pause');
    });
  const challenged = {
    subject: principalKeyOf(principal),
    action: 'challenge',
    reason: '',
    expiresAt: new Date(beganMs),
  };
  await sql.begin((tx) => decide(tx, [challenged as Decision], { source: 'ai', addedBy: 'x' }, new Date(beganMs)));
  t.equal(await events(principalKeyOf(principal)), 3, 'another measure is an event');
}

void onBothDatabases(t, 'renewals of verdicts', suite);
