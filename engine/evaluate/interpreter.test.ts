// What the rule language means, rule by rule: the interpreter is the definition, so this is its specification.
import t from 'tap';
import { createInterpreter } from './interpreter.js';
import type { EngineSettings, MacroRef, MarkerIR, RuleIR, TargetIR } from '../program/ir.js';
import { createMemoryStore } from '../transaction/memory-store.js';
import {
  action,
  exchange,
  type Exchange,
  link,
  marker,
  operator,
  program,
  rule,
  setTx,
  target,
} from '../testing/program.js';

const tx = (key: string): MacroRef => ({ variable: 'TX', key });
const macro = (variable: string, key: string | null = null): MacroRef => ({ variable, key });
const args = target('ARGS');
const deny = { kind: 'deny', status: 403 } as const;
const any = operator('unconditionalMatch');

interface Case {
  readonly what: string;
  readonly items: readonly (RuleIR | MarkerIR)[];
  readonly request?: Exchange;
  readonly settings?: Partial<EngineSettings>;
  readonly matched: readonly number[];
  readonly tx?: Readonly<Record<string, string | undefined>>;
  readonly verdict?: 'pass' | 'flag' | 'block';
  readonly status?: number | null;
}
const two = { uri: '/?a=one&b=two' };

const flow: readonly Case[] = [
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

const matching: readonly Case[] = [
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

const chained = (second: Parameters<typeof link>, more: Partial<RuleIR> = {}): RuleIR =>
  rule(
    1,
    1,
    [link([args], operator('rx one'), { actions: [setTx('head', ['1'])], capture: true }), link(...second)],
    more,
  );
const chains: readonly Case[] = [
  {
    what: 'a chain needs all its links; setvar of the first stays',
    items: [chained([[args], operator('streq none')], { disruptive: deny })],
    request: two,
    matched: [],
    tx: { head: '1' },
    verdict: 'pass',
  },
  {
    what: 'a chain is one match',
    items: [chained([[args], operator('streq two')], { disruptive: deny })],
    request: two,
    matched: [1],
    verdict: 'block',
  },
  {
    what: 'a later link sees the captures of an earlier one',
    items: [chained([[target('TX', '0')], operator('streq one')])],
    request: two,
    matched: [1],
  },
  {
    what: 'MATCHED_VAR is the match of the link before',
    items: [chained([[target('MATCHED_VAR')], operator('streq one')])],
    request: two,
    matched: [1],
  },
  {
    what: 'MATCHED_VARS_NAMES gathers along the chain',
    items: [rule(1, 1, [link([args], any), link([target('MATCHED_VARS_NAMES', null, true)], operator('eq 2'))])],
    request: two,
    matched: [1],
  },
  {
    what: 'MATCHED_VARS starts empty with each rule',
    items: [
      rule(1, 1, [link([args], any)]),
      rule(2, 1, [link([target('REQUEST_URI')], any), link([target('MATCHED_VARS', null, true)], operator('eq 1'))]),
    ],
    request: two,
    matched: [1, 2],
  },
  {
    what: 'ctl in a link waits for the whole chain',
    items: [
      rule(1, 1, [
        link([args], any, { actions: [{ kind: 'ctl', control: { kind: 'ruleRemoveById', ranges: [[9, 9]] } }] }),
        link([args], operator('streq none')),
      ]),
      action(9, 1, []),
    ],
    request: two,
    matched: [9],
  },
  {
    what: 'a chain of actions',
    items: [rule(1, 1, [link([], null), link([], null, { actions: [setTx('x', ['1'])] })])],
    matched: [1],
    tx: { x: '1' },
  },
];

const removals: readonly Case[] = (
  [
    ['by id', { kind: 'ruleRemoveById', ranges: [[2, 3]] }, [1, 4]],
    ['by tag', { kind: 'ruleRemoveByTag', pattern: 'sqli' }, [1, 3, 4]],
    ['by a tag that is only part of one', { kind: 'ruleRemoveByTag', pattern: 'sql' }, [1, 2, 3, 4]],
    ['by tag expression', { kind: 'ruleRemoveByTag', pattern: '^x.s' }, [1, 2, 4]],
    ['by msg', { kind: 'ruleRemoveByMsg', pattern: 'third' }, [1, 2, 4]],
    ['target by id', { kind: 'ruleRemoveTargetById', ranges: [[2, 2]], target: args }, [1, 3, 4]],
    ['one target by tag', { kind: 'ruleRemoveTargetByTag', pattern: 'xss', target: target('ARGS', 'a') }, [1, 2, 4]],
    [
      'another target by tag',
      { kind: 'ruleRemoveTargetByTag', pattern: 'xss', target: target('ARGS', 'b') },
      [1, 2, 3, 4],
    ],
    ['target by msg', { kind: 'ruleRemoveTargetByMsg', pattern: 'third', target: target('ARGS', /^a/) }, [1, 2, 4]],
  ] as const
).map(([what, control, matched]): Case => {
  const oneArgument: TargetIR = args;
  return {
    what: `removal ${what}`,
    items: [
      action(1, 1, [{ kind: 'ctl', control }]),
      rule(2, 1, [link([oneArgument], operator('rx .'))], { tags: ['sqli'] }),
      rule(3, 1, [link([oneArgument], operator('rx one'), { msg: ['third'] })], { tags: ['xss'] }),
      rule(4, 2, [link([target('REQUEST_URI')], any)]),
    ],
    request: two,
    matched,
  };
});

for (const { what, items, request, settings, matched, tx: expected, verdict, status } of [
  ...flow,
  ...matching,
  ...chains,
  ...removals,
]) {
  t.test(what, (t) => {
    const result = exchange(createInterpreter(program(items, settings)), request);
    t.same(result.matched, matched);
    for (const [name, value] of Object.entries(expected ?? {}))
      t.equal(result.transaction.tx.get(name), value, `TX:${name}`);
    if (verdict !== undefined) t.equal(result.verdict.kind, verdict);
    if (status !== undefined) t.equal(result.verdict.interruption?.status ?? null, status);
    t.end();
  });
}

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
