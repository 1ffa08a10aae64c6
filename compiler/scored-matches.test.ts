// A rule that only adds to scores stops testing values once more of them can change no decision. Both engines stop at
// the same value, thresholds hold however high they are, and the second opinion is told that not all was looked at.
import t from 'tap';
import { createMemoryStore, type Inspector, type Transaction } from '#engine';
import { createMemoryCache, createPair, programOf } from './testing/rule-text.js';
import { scoredMatchesMaxOf } from '#engine/compile';

const automata = createMemoryCache();

function run(inspector: Inspector, values: number): Transaction {
  const head = {
    method: 'POST',
    uri: '/',
    protocol: 'HTTP/1.1',
    headers: ['Host', 'shop.example', 'Content-Type', 'application/x-www-form-urlencoded'],
    clientIp: '192.0.2.1',
    clientPort: 1,
    serverIp: '192.0.2.2',
    serverPort: 80,
  };
  const transaction = inspector.begin(head, {
    uniqueId: 'x',
    nowMs: 0,
    store: createMemoryStore(),
    secondOpinion: 'enforce',
  });
  inspector.requestHeaders(transaction);
  inspector.requestBody(transaction, Buffer.from(Array.from({ length: values }, (_, at) => `a${at}=x${at}`).join('&')));
  return transaction;
}

const rulesOf = (threshold: number, scored: string, more = ''): string => `SecRuleEngine On
SecRequestBodyAccess On
SecArgumentsLimit 5000
SecAction "id:1,phase:1,pass,nolog,setvar:tx.point=1,setvar:tx.n=0,\\
  setvar:tx.inbound_anomaly_score_threshold=${threshold}"
${scored}
SecRule TX:n "@ge %{tx.inbound_anomaly_score_threshold}" "id:9,phase:2,deny"
${more}`;

const scored = 'SecRule ARGS "@beginsWith x" "id:2,phase:2,pass,nolog,setvar:tx.n=+%{tx.point}"';

interface Row {
  readonly what: string;
  readonly rules: string;
  readonly values: number;
  readonly n: number;
  readonly isBlocked: boolean;
  readonly isCut: boolean;
}
const rows: readonly Row[] = [
  ...[255, 256, 257, 3000].map((values) => ({
    what: `${values} values, a low threshold`,
    rules: rulesOf(5, scored),
    values,
    n: Math.min(values, 256),
    isBlocked: true,
    isCut: values > 256,
  })),
  ...[999, 1000, 1001, 1002].map((values) => ({
    what: `${values} values, a threshold of 1000`,
    rules: rulesOf(1000, scored),
    values,
    n: Math.min(values, 1001),
    isBlocked: values >= 1000,
    isCut: values > 1001,
  })),
  ...[299, 300, 301, 302].map((values) => ({
    what: `${values} values, a custom rule that compares with 300`,
    rules: rulesOf(400, scored, 'SecRule TX:n "@eq 300" "id:10,phase:2,deny"'),
    values,
    n: values,
    isBlocked: values === 300,
    isCut: false,
  })),
  ...[300, 301, 302].map((values) => ({
    what: `${values} values, a low threshold and a custom rule that compares with 300`,
    rules: rulesOf(5, scored, 'SecRule TX:n "@eq 300" "id:10,phase:2,setvar:tx.met=1,pass"'),
    values,
    n: Math.min(values, 301),
    isBlocked: true,
    isCut: values > 301,
  })),
  {
    what: 'a rule that sets',
    rules: rulesOf(400, scored.replace('"id', '"setvar:tx.last=%{MATCHED_VAR},id')),
    values: 500,
    n: 500,
    isBlocked: true,
    isCut: false,
  },
  {
    what: 'a rule that takes away',
    rules: rulesOf(5, scored.replace('=+', '=-')),
    values: 300,
    n: -300,
    isBlocked: false,
    isCut: false,
  },
  {
    what: 'a chain',
    rules: rulesOf(5, `${scored.replace('nolog', 'nolog,chain')}\n  SecRule MATCHED_VARS "@streq x299"`),
    values: 300,
    n: 300,
    isBlocked: true,
    isCut: false,
  },
];

t.test('B4: scores are counted as far as decisions go, in both engines', async (t) => {
  for (const { what, rules, values, n, isBlocked, isCut } of rows) {
    const pair = await createPair(rules, automata);
    const inspectors = [{ name: 'the oracle', inspector: pair.oracle }, ...pair.variants];
    for (const { name, inspector } of inspectors) {
      const transaction = run(inspector, values);
      t.equal(transaction.tx.get('n'), `${n}`, `${what}, ${name}`);
      t.equal(transaction.evidenceIsCut, isCut, `${what}, ${name}: whether the second opinion is told`);
      t.equal(inspector.finish(transaction).kind === 'block', isBlocked, `${what}, ${name}: blocked`);
    }
    pair.release();
  }
});

t.test('B4: how far is by what the program compares scores with', async (t) => {
  for (const [rules, most] of [
    [rulesOf(5, scored), 256],
    [rulesOf(255, scored), 256],
    [rulesOf(256, scored), 257],
    [rulesOf(1_000_000, scored), 1_000_001],
    [rulesOf(5, scored, 'SecRule REQUEST_BODY_LENGTH "@gt 64000" "id:10,phase:2,deny"'), 256],
    [rulesOf(5, scored, 'SecRule TX:n "@rx 999" "id:10,phase:2,deny"'), 256],
    [rulesOf(5, scored, 'SecRule TX:n "@ge 700" "id:10,phase:2,deny"'), 701],
    [rulesOf(5, scored, 'SecRule TX:n "!@lt 700" "id:10,phase:2,deny"'), 701],
  ] as const)
    t.equal(scoredMatchesMaxOf(programOf(rules)), most);
});
