// The second opinion over rules: what is overruled, raised and left alone, in both engines and with the CRS.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { createMemoryStore, type Inspector, type OpinionMode, type Verdict } from '#engine';
import { createInterpreter } from '#engine/compile';
import { requireSettings } from '#settings';
import { sharedDirectory } from '#cli/environment/directories';
import { compileProgram } from '../../compile-program.js';
import { formatDiagnostics } from '../../diagnostics/format.js';
import { diskReader } from '../../disk/disk-reader.js';
import { findCrsOf, withoutVersion4 } from '../../testing/core-rules.js';
import { createMemoryCache, createPair } from '../../testing/rule-text.js';
import type { Sample } from '../../testing/agreement.js';
import { ftwSamples, heldOutTraffic, trafficSamples } from '../../testing/samples.js';
import { smallCrs } from '../../testing/small-policy.js';
import { loadCoreRuleSet } from '../crs.js';
import { renderPolicy, resolvePolicy } from '../policy.js';
import { renderSecondOpinion } from './evidence-rules.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

interface Asked {
  readonly uri: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly engineMode?: 'DetectionOnly';
}

function ask(inspector: Inspector, secondOpinion: OpinionMode | null, asked: Asked): Verdict {
  const { uri, headers = [], body } = asked;
  const head = {
    method: body === undefined ? 'GET' : 'POST',
    uri,
    protocol: 'HTTP/1.1',
    headers: ['Host', 'shop.example', 'User-Agent', 'Mozilla/5.0', 'Accept', '*/*', ...headers],
    clientIp: '192.0.2.1',
    clientPort: 1,
    serverIp: '192.0.2.2',
    serverPort: 80,
  };
  const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore(), secondOpinion });
  if (asked.engineMode !== undefined) transaction.engineMode = asked.engineMode;
  if (inspector.requestHeaders(transaction) === null)
    inspector.requestBody(transaction, body === undefined ? null : Buffer.from(body, 'latin1'));
  return inspector.finish(transaction);
}

/** Ids and sums as those of the CRS, patterns of our own. */
const smallRules = (threshold: number): string => `SecRuleEngine On
SecRequestBodyAccess On
SecAction "id:1,phase:1,pass,nolog,setvar:tx.critical_anomaly_score=5,setvar:tx.blocking_paranoia_level=1,\\
  setvar:tx.inbound_anomaly_score_threshold=${threshold},setvar:tx.inbound_anomaly_score_pl1=0,\\
  setvar:tx.inbound_anomaly_score_pl2=0"
SecRule ARGS "@contains {" \\
  "id:942550,phase:2,pass,log,setvar:tx.inbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}"
SecRule ARGS "@contains two" "id:932370,phase:2,pass,log,setvar:tx.inbound_anomaly_score_pl2=+5"
SecRule ARGS "@contains firm" "id:933100,phase:2,pass,log,setvar:tx.inbound_anomaly_score_pl1=+5"
SecRule TX:INBOUND_ANOMALY_SCORE_PL1 "@ge %{tx.inbound_anomaly_score_threshold}" "id:949110,phase:2,deny,log"
${renderSecondOpinion({ second_opinion: 'monitor', sites: [] })}
SecRule ARGS:own "@streq stop" "id:1000001,phase:2,deny,status:418,log"
SecRule ARGS:leave "@streq it" "id:1000002,phase:1,allow,log"
`;
const document = 'q=%7B%22a%22%3A1%7D';
const raise = 'p=..%25c0%25af..%25c0%25afetc%25c0%25afpasswd';

const automata = createMemoryCache();

async function both(threshold = 5) {
  const { oracle, variants } = await createPair(smallRules(threshold), automata);
  return (mode: OpinionMode | null, asked: Asked): Verdict => {
    const expected = ask(oracle, mode, asked);
    const told = ({ kind, interruption, opinion }: Verdict): string => JSON.stringify([kind, interruption, opinion]);
    for (const { name, inspector } of variants) {
      const found = told(ask(inspector, mode, asked));
      if (found !== told(expected)) throw new Error(`${name}: ${found}, the oracle ${told(expected)}`);
    }
    return expected;
  };
}

t.test('SO4: off, monitor and enforce, in both engines', async (t) => {
  const inspect = await both();
  const asked = { uri: `/?${document}` };
  t.match(inspect(null, asked), { kind: 'block', opinion: null }, 'off: the rules alone');
  t.match(inspect('monitor', asked), {
    kind: 'block',
    interruption: { ruleId: 949_110 },
    opinion: {
      mode: 'monitor',
      decision: 'overrule',
      rules_score: 5,
      score: 0,
      threshold: 5,
      features: [{ rule_id: 942_550, variable: 'ARGS:q', points: 5, is_supported: false }],
    },
  });
  t.match(inspect('enforce', asked), { kind: 'pass', interruption: null, opinion: { decision: 'overrule' } });
  t.match(inspect('enforce', { uri: '/?q=quiet' }), { kind: 'pass', opinion: null }, 'nothing to have one about');
  t.match(inspect('enforce', { uri: `/?${document}`, engineMode: 'DetectionOnly' }), { kind: 'pass' });
  t.match(inspect(null, { uri: `/?${document}`, engineMode: 'DetectionOnly' }), { kind: 'flag' });
});

t.test('SO4: what a rule behind the overruled one denies is denied', async (t) => {
  const inspect = await both();
  t.match(inspect('enforce', { uri: `/?${document}&own=stop` }), { interruption: { ruleId: 1_000_001, status: 418 } });
});

t.test('SO5: what signs support is raised, unless a rule allows it or the site only watches', async (t) => {
  const inspect = await both();
  const raised = { kind: 'block', interruption: { ruleId: 1_006_610, status: 403, phase: 2 } };
  t.match(inspect(null, { uri: `/?${raise}` }), { kind: 'pass' });
  t.match(inspect('monitor', { uri: `/?${raise}` }), { kind: 'pass', opinion: { decision: 'raise', score: 5 } });
  t.match(inspect('enforce', { uri: `/?${raise}` }), raised);
  t.match(inspect('enforce', { uri: `/?${raise}`, engineMode: 'DetectionOnly' }), { kind: 'flag' });
  t.match(inspect('enforce', { uri: `/?${raise}&leave=it` }), { kind: 'pass' }, 'allow stays allow');
  t.match(inspect('enforce', { uri: `/?${document}&${raise}` }), raised, 'overruled first, raised then');
});

t.test('SO5: what people write is not raised, though evidence rules may note it', async (t) => {
  const inspect = await both();
  for (const text of [
    'Name ................ Street ................',
    '/reports/{file}',
    'use `name` and `type` in the form',
    'if (!(a)) return (*)(int)',
    'mail @@ALL of @@003',
    '"#website","url":"https://shop.example/"',
    'etc. for the group',
    'the web-inf folder and winnt',
    'select one from the list and go',
    '"id"',
    'and everything in between, or something like that',
    'and `type` in the form',
    'we and 3 in 10 people, where it is not',
    'things like "this" and words in (brackets)',
    'where n > m holds and y = m follows',
    'order by 5 pm for delivery; group by 3',
    'select item(s) from the list',
    'select red, blue from the menu',
    'the prompt (by phone) or alert (yes/no)',
    'she said "yes" -- and left',
    '["/*", "/a/*"]',
    'wait..\nNext, etc.',
    'wait..../maybe',
    'windows \u7684 system32',
    '<title>Lamps',
    'and the lamp is in stock; more of it',
  ])
    t.match(inspect('enforce', { uri: `/?q=${encodeURIComponent(text)}` }), { kind: 'pass' }, text);
});

t.test('SO5: evidence adds up to the threshold, a layer each', async (t) => {
  const inspect = await both(10);
  t.match(inspect('enforce', { uri: `/?${raise}` }), { kind: 'pass', opinion: null }, 'one layer of two');
  t.match(inspect('enforce', { uri: `/?${raise}&a=${raise.slice(2)}` }), { kind: 'pass' }, 'the same layer twice');
  t.match(inspect('enforce', { uri: `/?${raise}&a=firm` }), { kind: 'block', opinion: { decision: 'raise' } });
});

t.test('SO5: points of a level that does not block are not taken off', async (t) => {
  const inspect = await both();
  t.match(inspect('enforce', { uri: '/?a=firm&b=two' }), { kind: 'block', opinion: { decision: 'agree', score: 5 } });
});

t.test('SO6: nobody buys a lower score with what is added', async (t) => {
  const inspect = await both();
  const kinds = [
    [`a=${encodeURIComponent('{"x": 1 union select a, b from stock}')}`, 949_110],
    ['a=firm', 949_110],
    [raise, 1_006_610],
  ] as const;
  const harmless = fc.constantFrom(document, 'n=1', 'q=tea%3Bcat%3Bmilk', 's=select+a+lamp+from+us', 'e=%7B%7D');
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.array(harmless, { maxLength: 12 }),
      fc.nat(12),
      fc.nat(3000),
      ([attack, ruleId], others, at, padding) => {
        const padded = `${attack}%20${'quiet%20'.repeat(padding)}`;
        const all = [...others.slice(0, at), padded, ...others.slice(at)];
        return inspect('enforce', { uri: `/?${all.join('&')}` }).interruption?.ruleId === ruleId;
      },
    ),
    { numRuns: 60 },
  );
  for (const [attack, ruleId] of kinds) {
    const many = Array.from({ length: 300 }, (_, index) => `n${index}=${document.slice(2)}`);
    for (const all of [
      [...many, attack],
      [attack, ...many],
    ])
      t.match(inspect('enforce', { uri: `/?${all.join('&')}` }), { kind: 'block' }, `${ruleId} among 300 documents`);
  }
});

t.test('SO7: the rules are there when a site wants them, and go with their categories', async (t) => {
  const rulesOf = (settings: object): string[] => {
    const { policy } = resolvePolicy(requireSettings(settings), smallCrs);
    const { program } = compileProgram(policy === null ? [] : renderPolicy(policy));
    const ids = (program?.items ?? []).flatMap((item) => (item.kind === 'rule' ? [item.id] : []));
    return ids.filter((id) => id >= 1_006_600 && id <= 1_006_699).map(String);
  };
  const site = { name: 'a', prefix: '/a', upstream: 'http://127.0.0.1:1' };
  t.strictSame(rulesOf({}), []);
  t.strictSame(rulesOf({ sites: [{ ...site, second_opinion: 'off' }] }), []);
  t.equal(rulesOf({ second_opinion: 'enforce' }).length, 6);
  t.equal(rulesOf({ sites: [{ ...site, second_opinion: 'monitor' }] }).length, 6);
  t.notOk(rulesOf({ second_opinion: 'enforce', categories: { lfi: { enabled: false } } }).includes('1006600'));
});

const shared = sharedDirectory();
const corpus = join(shared, 'corpora/traffic');
const skip = withoutVersion4 || (existsSync(corpus) ? false : `no corpus at ${corpus}`);

/** The CRS as the product renders it; made once, since loading takes longer than the tests. */
const made = new Map<string, Inspector>();
function crsInspector(): Inspector {
  const known = made.get('crs');
  if (known !== undefined) return known;
  const loaded = loadCoreRuleSet(findCrsOf('4') as string, diskReader);
  if (loaded.crs === null) throw new Error(formatDiagnostics(loaded.diagnostics));
  const { policy } = resolvePolicy(requireSettings({ second_opinion: 'enforce' }), loaded.crs);
  const { program } = compileProgram(policy === null ? [] : renderPolicy(policy), { reader: diskReader });
  if (program === null) throw new Error('the policy does not compile');
  const inspector = createInterpreter(program);
  made.set('crs', inspector);
  return inspector;
}

function isBlocked(inspector: Inspector, { head, body }: Sample, mode: OpinionMode | null): boolean {
  const environment = { uniqueId: 'x', nowMs: 0, store: createMemoryStore(), secondOpinion: mode };
  const transaction = inspector.begin(head, environment);
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body);
  return inspector.finish(transaction).kind === 'block';
}

t.test('SO8: with the CRS, a sample of the half of the corpus that signs were not drafted by', { skip }, async (t) => {
  const inspector = crsInspector();
  const heldOut = heldOutTraffic(shared);
  const shareBlocked = (file: 'attack' | 'benign', mode: OpinionMode | null): number => {
    const samples = [...trafficSamples(shared, file)].filter(({ id }, index) => index % 12 === 0 && heldOut.has(id));
    const blocked = samples.filter((sample) => isBlocked(inspector, sample, mode));
    return (100 * blocked.length) / samples.length;
  };
  const [found, alone] = [shareBlocked('attack', 'enforce'), shareBlocked('attack', null)];
  const balanced = (found + 100 - shareBlocked('benign', 'enforce')) / 2;
  t.ok(found >= alone - 0.5, `attacks found: ${found.toFixed(1)} %, by the rules alone ${alone.toFixed(1)} %`);
  t.ok(balanced >= 95, `balanced accuracy of the sample ${balanced.toFixed(1)} % (all: bench/second-opinion)`);
});

const suite = join(shared, 'corpora/ftw');
const skipSuite = withoutVersion4 || (existsSync(suite) ? false : `no corpus at ${suite}`);

t.test(
  'SO10: of the barest attacks on weak rules none that the rules block is let through',
  { skip: skipSuite },
  (t) => {
    const inspector = crsInspector();
    const rules = /^ftw (?:932(?:130|236|270|380)|933135|941(?:100|160|170|210)|942(?:190|290|550))-/;
    const cases = readFileSync(join(suite, 'cases.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    const isAttack = new Set(cases.filter((line) => line.includes('"expect_ids"')).map((line) => JSON.parse(line).id));
    const samples = [...ftwSamples(shared)].filter(
      ({ id }, index) => index % 3 === 0 && rules.test(id) && isAttack.has(id.slice(4, -2)),
    );
    const blocked = samples.filter((sample) => isBlocked(inspector, sample, null));
    const lost = blocked.filter((sample) => !isBlocked(inspector, sample, 'enforce')).map(({ id }) => id);
    t.ok(blocked.length >= 50, `${blocked.length} stages that the rules block`);
    t.strictSame(lost, [], 'let through (docs/second-opinion.md names the few of the whole suite)');
    t.end();
  },
);
