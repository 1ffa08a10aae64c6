// A quick check may say "maybe" to anything, but its "no" must be the evaluator's: random rules against random
// transactions.
import fc from 'fast-check';
import t from 'tap';
import { seesEarlierRules } from '../../program/chain-links.js';
import { RuleEvaluator } from '../../evaluate/evaluator.js';
import type { LinkIR, RuleIR, TargetIR, Template } from '../../program/ir.js';
import { createMemoryStore } from '../../transaction/memory-store.js';
import { RemovalTable } from '../../evaluate/removals.js';
import { createSession } from '../../transaction/session.js';
import { Transaction } from '../../transaction/transaction.js';
import { link, operator, program as programOf, rule, setTx, target } from '../../testing/program.js';
import { bothOf, createRuleCheck } from './quick-check.js';

const seed = Number(process.env['SEED'] ?? 20_261_121);
const targets: readonly TargetIR[] = [
  target('ARGS'),
  target('ARGS', 'a'),
  target('ARGS', /^b/),
  target('ARGS', null, true),
  target('ARGS', 'a', true),
  target('REQUEST_HEADERS', 'host'),
  target('REQUEST_HEADERS', 'x-test', true),
  target('REQUEST_HEADERS', /^x/),
  target('REQUEST_METHOD'),
  target('REQUEST_COOKIES'),
  target('TX', 'n'),
  target('TX', 'm', true),
  target('TX', /^n/),
  target('TX'),
  target('TX', '0'),
  target('RULE', 'id'),
  target('MATCHED_VAR'),
  target('REQUEST_BODY'),
  target('NOTHING'),
  target('ENV', 'x'),
];
const ref = (key: string): Template => [{ variable: 'TX', key }];
const operators = [
  'eq 1',
  '!eq 1',
  'ge 2',
  'lt 1',
  'streq x',
  '!streq x',
  'rx ^[a-z]$',
  '!rx x',
  'rx ^$',
  'within x GET 1',
  '!within x',
  'pm x y',
  'contains a',
  'validateByteRange 32-126',
  'ipMatch 10.0.0.0/8',
  'unconditionalMatch',
  'noMatch',
  '!noMatch',
].map((text) => operator(text));
const dynamic = [
  operator('rx %{tx.n}', ref('n')),
  operator('!rx %{tx.n}', ref('n')),
  operator('streq %{tx.n}', ref('n')),
  operator('within %{rule.id}', [{ variable: 'RULE', key: 'id' }]),
  operator('!eq %{tx.m}', ref('m')),
];
const actions = [[], [], [setTx('n', ['1'])], [setTx('m', ['1'], 'add')]];

const anyLink: fc.Arbitrary<LinkIR> = fc
  .record({
    targets: fc.array(fc.constantFrom(...targets), { minLength: 1, maxLength: 3 }),
    exclusions: fc.constantFrom([], [], [target('ARGS', 'a')], [target('TX', 'n')], [target('REQUEST_HEADERS', /^x/)]),
    operator: fc.constantFrom(...operators, ...dynamic),
    transformations: fc.constantFrom([], [], ['lowercase'], ['length'], ['urlDecodeUni', 'lowercase'], ['trim']),
    multiMatch: fc.boolean(),
    capture: fc.boolean(),
    actions: fc.constantFrom(...actions),
  })
  .map(({ targets: list, operator: bound, ...more }) => link(list, bound, more));

const value = fc.constantFrom('', 'x', 'X', '1', '2', ' 1', 'GET', '(', '%78', '\xff', 'id');
const request = fc.record({
  a: value,
  b: value,
  host: value,
  extra: value,
  cookie: value,
  n: fc.option(value, { nil: null }),
  m: fc.option(value, { nil: null }),
  capture: fc.option(value, { nil: null }),
});

function encode(text: string): string {
  return [...text].map((character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
}

t.test('no false no, and no false maybe where the check is exact', (t) => {
  let exact = 0;
  let no = 0;
  let matched = 0;
  fc.assert(
    fc.property(
      fc.array(anyLink, { minLength: 1, maxLength: 3 }),
      fc.array(request, { minLength: 4, maxLength: 6 }),
      (links, requests) => {
        const program = programOf([rule(1, 1, [link([target('ARGS')], operator('rx .'))]), rule(2, 1, links)]);
        const asked = program.items[1] as RuleIR;
        const { ofHead, ofRest, isExact } = createRuleCheck(
          asked,
          () => null,
          { unicodeMap: null },
          seesEarlierRules(program),
        );
        const check = bothOf(ofHead, ofRest);
        const evaluator = new RuleEvaluator(program);
        const removals = new RemovalTable(program);
        const session = createSession(
          program,
          () => new Transaction(),
          () => undefined,
        );
        for (const one of requests) {
          const uri = `/?a=${encode(one.a)}&b=${encode(one.b)}`;
          const transaction = session.begin(
            {
              method: 'GET',
              uri,
              protocol: 'HTTP/1.1',
              headers: ['Host', one.host, 'X-Other', one.extra, 'Cookie', `c=${one.cookie}`],
              clientIp: '10.0.0.1',
              clientPort: 1,
              serverIp: '10.0.0.2',
              serverPort: 80,
            },
            { uniqueId: 'u', nowMs: 0, store: createMemoryStore() },
          );
          transaction.phase = 1;
          for (const [key, text] of [
            ['n', one.n],
            ['m', one.m],
            ['0', one.capture],
          ] as const)
            if (text !== null) transaction.tx.set(key, text);
          // The rule before has just run, and may have matched.
          evaluator.runRule(program.items[0] as RuleIR, transaction, removals);
          const before = JSON.stringify([...transaction.tx]);
          const maybe = check === null || check(transaction);
          if (JSON.stringify([...transaction.tx]) !== before) return false; // a check only looks
          const matches = evaluator.runRule(asked, transaction, removals);
          if (!maybe) no += 1;
          if (matches) matched += 1;
          if (matches && !maybe) return false;
          if (isExact && maybe && !matches) return false;
          if (isExact && matches) exact += 1;
          // A "no" also promises that nothing of the rule would have been seen.
          if (!maybe && JSON.stringify([...transaction.tx]) !== before) return false;
        }
        return true;
      },
    ),
    { seed, numRuns: 4000 },
  );
  t.ok(
    no > 2000 && matched > 1000 && exact > 300,
    `${no} times "no", ${matched} matches, ${exact} of them foretold, seed ${seed}`,
  );
  t.end();
});

t.test('constant arguments stand for macros', (t) => {
  const program = programOf([rule(1, 1, [link([target('ARGS')], operator('streq %{tx.n}', ref('n')))])]);
  const { ofHead, ofRest } = createRuleCheck(program.items[0] as RuleIR, () => 'x', { unicodeMap: null }, false);
  const check = bothOf(ofHead, ofRest);
  const session = createSession(
    program,
    () => new Transaction(),
    () => undefined,
  );
  const ask = (uri: string): boolean | undefined =>
    check?.(
      session.begin(
        {
          method: 'GET',
          uri,
          protocol: 'HTTP/1.1',
          headers: [],
          clientIp: '',
          clientPort: 1,
          serverIp: '',
          serverPort: 80,
        },
        { uniqueId: 'u', nowMs: 0, store: createMemoryStore() },
      ),
    );
  t.equal(ask('/?a=x'), true);
  t.equal(ask('/?a=y'), false);
  t.equal(ask('/'), false);
  t.end();
});
