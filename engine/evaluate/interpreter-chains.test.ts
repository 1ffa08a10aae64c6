// What chains mean, and what run-time removals take away, rule by rule.
import t from 'tap';
import type { RuleIR, TargetIR } from '../program/ir.js';
import { action, link, operator, rule, setTx, target } from '../testing/program.js';
import { any, args, deny, runCases, two, type RuleCase } from '../testing/rule-cases.js';

const chained = (second: Parameters<typeof link>, more: Partial<RuleIR> = {}): RuleIR =>
  rule(
    1,
    1,
    [link([args], operator('rx one'), { actions: [setTx('head', ['1'])], capture: true }), link(...second)],
    more,
  );
const chains: readonly RuleCase[] = [
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

const removals: readonly RuleCase[] = (
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
).map(([what, control, matched]): RuleCase => {
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

runCases(t, [...chains, ...removals]);
