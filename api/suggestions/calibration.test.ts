// Of what is called a likely false positive at least 95 % is, counted over labelled traffic with the CRS, for three
// kinds of attackers. TUNING_EVERY=1 takes every request instead of a sample; half B (fixtures/traffic/groups.ts)
// counts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compileProgram, diskReader, judgeMatch, loadCoreRuleSet, renderPolicy, resolvePolicy } from '#compiler';
import { createMemoryStore, type Inspector } from '#engine';
import { createInterpreter } from '#engine/compile';
import { requireSettings } from '#settings';
import { sharedDirectory } from '#cli/environment/directories';
import { findCrsOf, withoutVersion4 } from '#compiler/testing/core-rules';
import { heldOutTraffic, trafficSamples } from '#compiler/testing/samples';
import { templatePath, type ClientPast, type RuleHit } from './hits.js';
import { groupHits, HitEvidence, isDetection, type HitVerdict } from './likelihood.js';

const shared = sharedDirectory();
const every = Number(process.env['TUNING_EVERY'] ?? 9);
const there = existsSync(join(shared, 'corpora/traffic')) ? false : '../shared/corpora/traffic is not there';
const nowMs = 1_800_000_000_000;
const hourMs = 3_600_000;

function inspectorOf(): Inspector {
  const loaded = loadCoreRuleSet(findCrsOf('4') as string, diskReader);
  if (loaded.crs === null) throw new Error('the rule set does not load');
  const { policy } = resolvePolicy(requireSettings({}), loaded.crs);
  const { program } = compileProgram(policy === null ? [] : renderPolicy(policy), { reader: diskReader });
  if (program === null) throw new Error('the policy does not compile');
  return createInterpreter(program);
}

/** Hits of requests that are blocked, without saying whose they are. */
function hitsOf(inspector: Inspector, file: 'attack' | 'benign', heldOut: ReadonlySet<string>): RuleHit[][] {
  const samples = [...trafficSamples(shared, file)].filter(({ id }) => heldOut.has(id));
  return samples
    .filter((_, index) => index % every === 0)
    .flatMap(({ id, head, body }, index) => {
      const transaction = inspector.begin(head, { uniqueId: 'x', nowMs, store: createMemoryStore() });
      if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body);
      const verdict = inspector.finish(transaction);
      if (verdict.kind !== 'block') return [];
      const hits = verdict.matched.flatMap(({ rule, variable, value }): RuleHit[] =>
        isDetection(rule.id)
          ? [
              {
                atMs: nowMs - (index % 24) * hourMs,
                requestId: id,
                ruleId: rule.id,
                message: '',
                tags: [],
                variable,
                value: value.slice(0, 512),
                site: 'shop',
                method: head.method,
                path: templatePath(head.uri),
                uri: head.uri,
                clientIp: '',
                hasSession: false,
                verdict: 'block',
                headers: [],
              },
            ]
          : [],
      );
      return hits.length > 0 ? [hits] : [];
    });
}

interface Crowd {
  readonly attackers: number;
  /** Of one attacker. */
  readonly past: ClientPast | null;
}

const crowds: Readonly<Record<string, Crowd>> = {
  'few attackers, nothing but attacks': { attackers: 20, past: null },
  'each attack from an address of its own': { attackers: Infinity, past: null },
  'each attack from a client that browsed before': {
    attackers: Infinity,
    past: { good: 8, all: 9, firstMs: nowMs - 30 * hourMs },
  },
};

/** What every hit is called, for honest people who use the site and attackers of one kind. */
function judgeAll(attacks: readonly RuleHit[][], honest: readonly RuleHit[][], crowd: Crowd) {
  const past = new Map<string, ClientPast>();
  const sent = (
    requests: readonly RuleHit[][],
    prefix: string,
    clients: number,
    one: (n: number) => ClientPast | null,
  ) =>
    requests.flatMap((hits, index) => {
      const clientIp = `${prefix}${index % clients}`;
      const known = one(index);
      if (known !== null) past.set(clientIp, known);
      return hits.map((hit) => ({ ...hit, clientIp }));
    });
  // half of the honest people came yesterday, too
  const person = (index: number): ClientPast => ({
    good: 12,
    all: 14,
    firstMs: nowMs - (index % 2 === 0 ? 72 : 23) * hourMs,
  });
  const hits = [
    ...sent(attacks, 'attacker', crowd.attackers, () => crowd.past),
    ...sent(honest, 'person', Infinity, person),
  ];
  const evidence = new HitEvidence(hits, ({ ruleId, value }) => judgeMatch(ruleId, value), past);
  const counts: Record<HitVerdict, { honest: number; attack: number }> = {
    likely_false: { honest: 0, attack: 0 },
    unclear: { honest: 0, attack: 0 },
    likely_attack: { honest: 0, attack: 0 },
  };
  for (const group of groupHits(hits, evidence))
    for (const { clientIp } of group.hits)
      counts[group.verdict][clientIp.startsWith('person') ? 'honest' : 'attack'] += 1;
  return counts;
}

t.test('27.7: of what is called likely false at least 95 % is', { skip: withoutVersion4 || there }, async (t) => {
  const inspector = inspectorOf();
  const heldOut = heldOutTraffic(shared);
  const attacks = hitsOf(inspector, 'attack', heldOut);
  const honest = hitsOf(inspector, 'benign', heldOut);
  t.ok(attacks.length > 100 && honest.length > 20, `${attacks.length} attacks and ${honest.length} honest requests`);
  for (const [name, crowd] of Object.entries(crowds)) {
    const counts = judgeAll(attacks, honest, crowd);
    const { likely_false: called, likely_attack: blamed } = counts;
    t.ok(
      called.honest >= 0.95 * (called.honest + called.attack) && called.honest > 0,
      `${name}: ${JSON.stringify(counts)}`,
    );
    t.ok(blamed.attack >= 0.95 * (blamed.honest + blamed.attack) && blamed.attack > 0, `${name}: blamed`);
  }
});
