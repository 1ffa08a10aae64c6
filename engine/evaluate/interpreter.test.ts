// What the rule language means, rule by rule: the interpreter is the definition, so this is its specification. Chains
// and removals are in interpreter-chains.test.ts.
import t from 'tap';
import { createMemoryStore } from '../transaction/memory-store.js';
import { action, exchange, link, marker, operator, program, rule, setTx, target } from '../testing/program.js';
import { any, args, deny, macro, runCases, tx, two, type RuleCase } from '../testing/rule-cases.js';
import { createInterpreter } from './interpreter.js';

const flow: readonly RuleCase[] = [
  {
    what: 'rules run phase by phase, in order',
    items: [action(2, 2, []), action(1, 1, []), action(5, 5, []), action(3, 3, []), action(4, 4, [])],
    matched: [1, 2, 3, 4, 5],
  },
  {
    what: 'nolog rules act and are not listed',
    items: [action(1, 1, [setTx('x', ['1'])], { log: false })],
    matched: [],
    tx: { x: '1' },
  },
  {
    what: 'skip counts rules, not markers',
    items: [action(1, 1, [], { skip: 1 }), marker('M'), action(2, 1, []), action(3, 1, [])],
    matched: [1, 3],
  },
  { what: 'skip ends with its phase', items: [action(1, 1, [], { skip: 5 }), action(2, 2, [])], matched: [1, 2] },
  {
    what: 'skipAfter goes to its marker',
    items: [action(1, 1, [], { skipAfter: 'END' }), action(2, 1, []), marker('END'), action(3, 1, [])],
    matched: [1, 3],
  },
  {
    what: 'skipAfter a rule id',
    items: [action(1, 1, [], { skipAfter: '2' }), action(9, 1, []), action(2, 1, []), action(3, 1, [])],
    matched: [1, 3],
  },
  {
    what: 'a missing marker skips the rest of the phase only',
    items: [action(1, 1, [], { skipAfter: 'NO' }), action(2, 1, []), action(3, 2, [])],
    matched: [1, 3],
  },
  {
    what: 'deny ends everything but logging',
    items: [action(1, 1, [], { disruptive: deny }), action(2, 1, []), action(3, 2, []), action(5, 5, [])],
    matched: [1, 5],
    verdict: 'block',
    status: 403,
  },
  {
    what: 'DetectionOnly goes on and remembers the first',
    items: [action(1, 1, [], { disruptive: { kind: 'deny', status: 410 } }), action(2, 2, [], { disruptive: deny })],
    settings: { ruleEngine: 'DetectionOnly' },
    matched: [1, 2],
    verdict: 'flag',
    status: 410,
  },
  {
    what: 'Off runs nothing',
    items: [action(1, 1, [])],
    settings: { ruleEngine: 'Off' },
    matched: [],
    verdict: 'pass',
  },
  {
    what: 'ctl:ruleEngine=Off acts at once',
    items: [
      action(1, 1, [{ kind: 'ctl', control: { kind: 'ruleEngine', value: 'Off' } }]),
      action(2, 1, []),
      action(5, 5, []),
    ],
    matched: [1],
  },
  {
    what: 'ctl:ruleEngine=On arms a later deny',
    items: [
      action(1, 1, [{ kind: 'ctl', control: { kind: 'ruleEngine', value: 'On' } }]),
      action(2, 2, [], { disruptive: deny }),
    ],
    settings: { ruleEngine: 'DetectionOnly' },
    matched: [1, 2],
    verdict: 'block',
  },
  {
    what: 'allow ends all but logging',
    items: [
      action(1, 1, [], { disruptive: { kind: 'allow', scope: 'all' } }),
      action(2, 1, []),
      action(3, 3, []),
      action(5, 5, []),
    ],
    matched: [1, 5],
    verdict: 'pass',
  },
  {
    what: 'allow:phase ends this phase',
    items: [action(1, 1, [], { disruptive: { kind: 'allow', scope: 'phase' } }), action(2, 1, []), action(3, 2, [])],
    matched: [1, 3],
  },
  {
    what: 'allow:request ends the request phases',
    items: [action(1, 1, [], { disruptive: { kind: 'allow', scope: 'request' } }), action(2, 2, []), action(3, 3, [])],
    matched: [1, 3],
  },
  {
    what: 'DetectionOnly withholds allow',
    items: [action(1, 1, [], { disruptive: { kind: 'allow', scope: 'all' } }), action(2, 1, [])],
    settings: { ruleEngine: 'DetectionOnly' },
    matched: [1, 2],
  },
  {
    what: 'a denial when logging comes too late',
    items: [action(5, 5, [], { disruptive: deny })],
    matched: [5],
    verdict: 'flag',
    status: 403,
  },
  {
    what: 'redirect carries its expanded location',
    items: [
      rule(1, 1, [link([target('REQUEST_URI')], any)], {
        disruptive: { kind: 'redirect', status: 302, url: ['/login?from=', macro('REQUEST_URI')] },
      }),
    ],
    request: { uri: '/x' },
    matched: [1],
    verdict: 'block',
    status: 302,
  },
];

const matching: readonly RuleCase[] = [
  {
    what: 'setvar runs for every matching value',
    items: [rule(1, 1, [link([args], operator('rx .'), { actions: [setTx('n', ['1'], 'add')] })])],
    request: two,
    matched: [1],
    tx: { n: '2' },
  },
  {
    what: 'negation holds per value',
    items: [rule(1, 1, [link([args], operator('!streq one'), { actions: [setTx('n', ['1'], 'add')] })])],
    request: two,
    matched: [1],
    tx: { n: '1' },
  },
  {
    what: 'negation needs a value',
    items: [rule(1, 1, [link([target('ARGS', 'zzz')], operator('!streq one'))])],
    request: two,
    matched: [],
  },
  {
    what: 'captures are those of the last matching value',
    items: [rule(1, 1, [link([args], operator('rx ^(.)(.)'), { capture: true })])],
    request: two,
    matched: [1],
    tx: { 0: 'tw', 1: 't', 2: 'w' },
  },
  {
    what: 'no capture without the action',
    items: [rule(1, 1, [link([args], operator('rx ^(.)'))])],
    request: two,
    matched: [1],
    tx: { 0: undefined },
  },
  {
    what: 'transformations run in order',
    items: [rule(1, 1, [link([args], operator('streq b25l'), { transformations: ['lowercase', 'base64Encode'] })])],
    request: { uri: '/?a=ONE' },
    matched: [1],
  },
  {
    what: 'multiMatch tests the value and each change, once each',
    items: [
      rule(1, 1, [
        link([args], operator('rx .'), {
          multiMatch: true,
          transformations: ['lowercase', 'removeNulls', 'trim'],
          actions: [setTx('n', ['1'], 'add')],
        }),
      ]),
    ],
    request: { uri: '/?a=%20ONE' },
    matched: [1],
    tx: { n: '3' },
  },
  {
    what: 'an argument with macros is expanded when it is needed',
    items: [
      action(1, 1, [setTx('ok', ['one two'])]),
      rule(2, 1, [link([args], operator('within', [tx('ok')]))]),
      rule(3, 1, [link([args], operator('!within', [tx('ok')]))]),
    ],
    request: two,
    matched: [1, 2],
  },
  {
    what: 'numbers read as C reads them',
    items: [action(1, 1, [setTx('n', ['7up']), setTx('n', [' 3x'], 'add'), setTx('m', ['abc'], 'subtract')])],
    matched: [1],
    tx: { n: '10', m: '0' },
  },
  {
    what: 'unset',
    items: [action(1, 1, [setTx('n', ['7']), setTx('n', [], 'unset')])],
    matched: [1],
    tx: { n: undefined },
  },
  {
    what: 'names are case-insensitive',
    items: [
      action(1, 1, [{ kind: 'setvar', collection: 'TX', key: ['N'], operation: 'set', value: ['1'] }]),
      rule(2, 1, [link([target('TX', 'n')], operator('eq 1'))]),
    ],
    matched: [1, 2],
    tx: { n: '1' },
  },
];

runCases(t, [...flow, ...matching]);

t.test('a match is recorded as it was at the end of its chain', (t) => {
  const head = link([args], operator('rx one'), {
    msg: ['saw ', macro('MATCHED_VAR')],
    logdata: [macro('MATCHED_VAR_NAME'), ' ', macro('RULE', 'id'), ' ', tx('no')],
  });
  const { verdict, transaction } = exchange(
    createInterpreter(
      program([
        rule(7, 1, [head, link([target('REQUEST_HEADERS')], operator('rx x'))], {
          severity: 2,
          tags: ['t/%{REQUEST_METHOD}'],
        }),
      ]),
    ),
    { ...two, headers: ['X-A', 'xyz'] },
  );
  const [first] = verdict.matched;
  t.match(first, {
    phase: 1,
    variable: 'REQUEST_HEADERS:X-A',
    value: 'xyz',
    msg: 'saw xyz',
    logdata: 'REQUEST_HEADERS:X-A 7 ',
    tags: ['t/GET'],
  });
  t.equal(transaction.highestSeverity, 2);
  t.same(verdict.phases, [1, 2, 3, 4, 5]);
  t.end();
});

t.test('persistent collections outlive the transaction and expire', (t) => {
  const store = createMemoryStore();
  const inspector = createInterpreter(
    program([
      action(1, 1, [{ kind: 'initcol', collection: 'IP', key: [macro('REMOTE_ADDR')] }]),
      action(2, 1, [
        { kind: 'setvar', collection: 'IP', key: ['n'], operation: 'add', value: ['1'] },
        { kind: 'expirevar', collection: 'IP', key: ['n'], seconds: ['60'] },
      ]),
      rule(3, 1, [link([target('IP', 'n')], operator('ge 3'))], { disruptive: deny }),
    ]),
  );
  const at = (nowMs: number): number[] => exchange(inspector, { store, nowMs }).matched;
  t.same(
    [at(0), at(1000), at(2000), at(90_000)],
    [
      [1, 2],
      [1, 2],
      [1, 2, 3],
      [1, 2],
    ],
  );
  t.end();
});

t.test('scores reach the verdict', (t) => {
  const { verdict } = exchange(
    createInterpreter(
      program([
        action(1, 1, [setTx('blocking_inbound_anomaly_score', ['7']), setTx('blocking_outbound_anomaly_score', ['4'])]),
      ]),
    ),
  );
  t.match(verdict, { inboundScore: 7, outboundScore: 4, kind: 'pass', truncated: false });
  t.end();
});

t.test('a program that names what the engine does not have is refused at load', (t) => {
  t.throws(
    () => createInterpreter(program([rule(1, 1, [link([args], operator('noSuchOperator x'))])])),
    /noSuchOperator/,
  );
  t.throws(
    () => createInterpreter(program([rule(1, 1, [link([args], any, { transformations: ['noSuch'] })])])),
    /noSuch/,
  );
  t.end();
});
