// The memo takes rules of one exact form only, and where it repeats an outcome it repeats what running would have done.
import fc from 'fast-check';
import t from 'tap';
import { RuleEvaluator } from '../../evaluate/evaluator.js';
import type { ActionIR, LinkIR, RuleIR, Template } from '../../program/ir.js';
import { createMemoryStore } from '../../transaction/memory-store.js';
import { RemovalTable } from '../../evaluate/removals.js';
import { createSession } from '../../transaction/session.js';
import { action, link, operator, program as programOf, rule, setTx, target } from '../../testing/program.js';
import { Transaction } from '../../transaction/transaction.js';
import { createTxMemo } from './tx-memo.js';

const tx = (key: string): Template[number] => ({ variable: 'TX', key });
const note: ActionIR = {
  kind: 'setvar',
  collection: 'TX',
  key: ['note_', tx('0')],
  operation: 'set',
  value: ['/', tx('0'), '/'],
};
const matchedVar: Template[number] = { variable: 'MATCHED_VAR', key: null };
const plainNote: ActionIR = { ...note, key: ['note_', matchedVar], value: [matchedVar] };
const head = (more: Partial<LinkIR> = {}): LinkIR =>
  link([target('REQUEST_HEADERS_NAMES')], operator('rx ^.*$'), {
    capture: true,
    transformations: ['lowercase'],
    actions: [note],
    ...more,
  });
const second = (more: Partial<LinkIR> = {}): LinkIR =>
  link([target('TX', /^note_/)], operator('within %{tx.list}', [tx('list')]), more);

t.test('the exact form only', (t) => {
  const others = {
    writes: action(8, 1, [setTx('note_x', ['1'])]),
    writesAny: action(8, 1, [{ kind: 'setvar', collection: 'TX', key: [matchedVar], operation: 'set', value: ['1'] }]),
    writesBeginning: action(8, 1, [
      { kind: 'setvar', collection: 'TX', key: ['no', matchedVar], operation: 'set', value: ['1'] },
    ]),
    unrelated: action(8, 1, [setTx('other', ['1'])]),
    sees: rule(8, 1, [link([target('MATCHED_VAR')], operator('rx x'))]),
  };
  const rows: readonly [string, boolean, readonly LinkIR[], RuleIR?][] = [
    ['the form', true, [head(), second()]],
    ['without capture, from MATCHED_VAR', true, [head({ capture: false, actions: [plainNote] }), second()]],
    ['beside a rule that writes something else', true, [head(), second()], others.unrelated],
    ['TX:0 of an earlier rule', false, [head({ capture: false }), second()]],
    ['captures with groups', false, [head({ operator: operator('rx ^(.*)$') }), second()]],
    [
      'a negated head',
      false,
      [head({ operator: operator('!rx ^.*$'), capture: false, actions: [plainNote] }), second()],
    ],
    [
      'a head with macros',
      false,
      [head({ operator: operator('streq %{tx.a}', [tx('a')]), capture: false, actions: [plainNote] }), second()],
    ],
    ['multiMatch', false, [head({ multiMatch: true }), second()]],
    ['an exclusion', false, [head({ exclusions: [target('REQUEST_HEADERS_NAMES', 'host')] }), second()]],
    ['values instead of names', false, [head({ targets: [target('REQUEST_HEADERS')] }), second()]],
    ['two collections at once', false, [head({ targets: [target('ARGS_NAMES')] }), second()]],
    ['some names only', false, [head({ targets: [target('REQUEST_HEADERS_NAMES', /^x/)] }), second()]],
    ['a count', false, [head({ targets: [target('REQUEST_HEADERS_NAMES', null, true)] }), second()]],
    ['two actions', false, [head({ actions: [note, note] }), second()]],
    ['adding', false, [head({ actions: [{ ...note, operation: 'add' }] }), second()]],
    ['a note that holds something else', false, [head({ actions: [{ ...note, value: [tx('other')] }] }), second()]],
    ['a note without a literal beginning', false, [head({ actions: [{ ...note, key: [tx('0')] }] }), second()]],
    ['another second link', false, [head(), second({ targets: [target('TX', /^other_/)] })]],
    [
      'a second link with a macro that notes may change',
      false,
      [head(), second({ operator: operator('within %{tx.note_a}', [tx('note_a')]) })],
    ],
    [
      'a second link with a macro of the request',
      false,
      [head(), second({ operator: operator('within %{request_method}', [{ variable: 'REQUEST_METHOD', key: null }]) })],
    ],
    ['one link', false, [head()]],
    ['three links', false, [head(), second(), second()]],
    ['somebody else writes such a note', false, [head(), second()], others.writes],
    ['somebody may write any name', false, [head(), second()], others.writesAny],
    ['somebody may write such a name', false, [head(), second()], others.writesBeginning],
    ['somebody sees what matched', false, [head(), second()], others.sees],
  ];
  for (const [name, expected, links, other] of rows) {
    const program = programOf([rule(1, 1, links), ...(other === undefined ? [] : [other])]);
    t.equal(createTxMemo(program.items[0] as RuleIR, program) !== null, expected, name);
  }
  t.end();
});

t.test('equals running', (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  const program = programOf([
    rule(1, 1, [
      link([target('ARGS_GET_NAMES'), target('REQUEST_COOKIES_NAMES')], operator('rx ^.*$'), {
        capture: true,
        actions: [note],
      }),
      second(),
    ]),
  ]);
  const item = program.items[0] as RuleIR;
  const evaluator = new RuleEvaluator(program);
  const removals = new RemovalTable(program);
  const session = createSession(
    program,
    () => new Transaction(),
    () => undefined,
  );
  const name = fc.constantFrom('a', 'b', 'ab', 'a\nb', 'b\na', '\n', '', '1:', '1:a', '|', 'a|');
  let repeated = 0;
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          args: fc.array(name, { maxLength: 3 }),
          cookies: fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 2 }),
          list: fc.constantFrom('', '/a/', '/ab/ /b/', '/a/1:'),
        }),
        { minLength: 10, maxLength: 40, size: 'max' },
      ),
      (requests) => {
        const memo = createTxMemo(item, program);
        if (memo === null) return false;
        return requests.every(({ args, cookies, list }) => {
          const begin = (): Transaction => {
            const transaction = session.begin(
              {
                method: 'GET',
                uri: '/',
                protocol: 'HTTP/1.1',
                headers: cookies.length === 0 ? [] : ['Cookie', cookies.map((one) => `${one}=1`).join('; ')],
                clientIp: '',
                clientPort: 1,
                serverIp: '',
                serverPort: 80,
              },
              { uniqueId: 'u', nowMs: 0, store: createMemoryStore() },
            );
            for (const one of args) transaction.argsGet.add(one, '1');
            transaction.tx.set('list', list);
            transaction.phase = 1;
            return transaction;
          };
          const expected = begin();
          const matches = evaluator.runRule(item, expected, removals);
          const found = begin();
          const key = memo.keyOf(found);
          const isKnown = memo.repeat(found, key);
          if (isKnown) repeated += 1;
          const alsoMatches = isKnown ? false : evaluator.runRule(item, found, removals);
          if (!isKnown && !alsoMatches) memo.remember(found, key);
          return (
            matches === alsoMatches && JSON.stringify([...expected.tx].sort()) === JSON.stringify([...found.tx].sort())
          );
        });
      },
    ),
    { seed, numRuns: 300 },
  );
  // 190 to 260 by the seed; a memo that never repeats has none
  t.ok(repeated > 100, `${repeated} outcomes were repeated, seed ${seed}`);
  t.end();
});
