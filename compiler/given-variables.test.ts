// What gates find out of a request reaches rules: both engines see the TX variables that a transaction is given, and
// folding does not take a rule that reads one for a rule that never matches.
import { createMemoryStore, type GivenValues, type Inspector } from '#engine';
import { givenVariables } from '#engine/compile';
import t from 'tap';
import { createMemoryCache, createPair, programOf } from './testing/rule-text.js';
import { foldConstants } from './passes/fold-constants.js';

const rules = [
  'SecRuleEngine On',
  'SecRule TX:apb_score "@ge 5" "id:1,phase:1,pass,log"',
  'SecRule TX:auth_sub "@rx ^adm" "id:2,phase:1,pass,log"',
  'SecRule TX:auth_sub "@streq admin" "id:3,phase:2,pass,log"',
  'SecRule &TX:auth_sub "@eq 0" "id:4,phase:2,pass,log"',
  'SecRule TX:/^auth_/ "@contains write" "id:5,phase:2,pass,log"',
  'SecRule TX:auth_scope "@pm write delete" "id:6,phase:1,pass,log"',
].join('\n');

function matchedBy(inspector: Inspector, given: GivenValues): number[] {
  const head = {
    method: 'GET',
    uri: '/',
    protocol: 'HTTP/1.1',
    headers: ['Host', 'x'],
    clientIp: '192.0.2.1',
    clientPort: 1,
    serverIp: '192.0.2.2',
    serverPort: 80,
  };
  const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
  for (const [name, value] of given) transaction.tx.set(name, value);
  inspector.requestHeaders(transaction);
  inspector.requestBody(transaction, null);
  return inspector.finish(transaction).matched.map(({ rule }) => rule.id);
}

t.test('3, 5: rules see what gates give, in both engines', async (t) => {
  const pair = await createPair(rules, createMemoryCache());
  const engines = [{ name: 'interpreter', inspector: pair.oracle }, ...pair.variants];
  const cases: readonly (readonly [GivenValues, readonly number[]])[] = [
    [[], [4]],
    [[['apb_score', '4']], [4]],
    [[['apb_score', '5']], [1, 4]],
    [[['auth_sub', 'admin']], [2, 3]],
    [
      [
        ['auth_sub', 'eve'],
        ['auth_scope', 'read write'],
      ],
      [6, 5],
    ],
    [[], [4]],
  ];
  for (const { name, inspector } of engines)
    for (const [given, ids] of cases)
      t.strictSame(matchedBy(inspector, given), ids, `${name}: ${JSON.stringify(given)}`);
  pair.release();
});

t.test('3, 5: folding keeps rules that read a given variable', async (t) => {
  for (const name of givenVariables) {
    const { folded } = foldConstants(programOf(`SecRule TX:${name} "@eq 1" "id:1,phase:1,deny"`));
    t.equal(folded.size, 0, name);
  }
});
