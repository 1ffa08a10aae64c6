// What is no error and probably not meant. One function per habit; each has a code that the console can explain.
import type { CheckedRule } from '#compiler';
import type { ActionIR, LinkIR, Program, RuleIR } from '#engine';
import type { CustomRule, RuleProblem } from './check.js';
import { lintEffect } from './lint-effect.js';

export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** The field of a visual rule that it is about, as a JSON pointer. */
  readonly field: string;
}

const bodyVariables: ReadonlySet<string> = new Set([
  'ARGS_POST',
  'ARGS_POST_NAMES',
  'REQUEST_BODY',
  'FILES',
  'FILES_NAMES',
  'FILES_COMBINED_SIZE',
  'MULTIPART_PART_HEADERS',
  'XML',
  'REQUEST_BODY_LENGTH',
  'FULL_REQUEST',
]);
const mixedVariables: ReadonlySet<string> = new Set(['ARGS', 'ARGS_NAMES']);

function lintPhase(rule: RuleIR): Finding[] {
  if (rule.phase !== 1) return [];
  const names = rule.links.flatMap(({ targets }) => targets.map(({ variable }) => variable));
  const blind = names.find((name) => bodyVariables.has(name));
  if (blind !== undefined)
    return [
      {
        code: 'GH-L0001',
        message: `rule ${rule.id} looks at ${blind} in phase 1, before the body is read`,
        hint: 'Move the rule to phase 2.',
        field: '/phase',
      },
    ];
  const half = names.find((name) => mixedVariables.has(name));
  return half === undefined
    ? []
    : [
        {
          code: 'GH-L0002',
          message: `rule ${rule.id} sees only the query's part of ${half} in phase 1`,
          hint: 'Use phase 2, or ARGS_GET to say that the query is meant.',
          field: '/phase',
        },
      ];
}

const literalOperators: ReadonlySet<string> = new Set([
  'contains',
  'containsWord',
  'beginsWith',
  'endsWith',
  'strmatch',
  'rx',
  'rxGlobal',
]);

/** A form that was left half empty: no text is found in every text. */
function lintEmpty(rule: RuleIR, { operator }: LinkIR): Finding[] {
  if (operator === null || operator.argument !== '' || !literalOperators.has(operator.name)) return [];
  const effect = operator.negated ? 'never' : 'for every value';
  return [
    {
      code: 'GH-L0009',
      message: `@${operator.name} without text matches ${effect} in rule ${rule.id}`,
      hint: 'Write what to look for; @unconditionalMatch says that every value is meant.',
      field: '/value',
    },
  ];
}

function lintExpression(rule: RuleIR, { operator }: LinkIR): Finding[] {
  if (operator === null || (operator.name !== 'rx' && operator.name !== 'rxGlobal')) return [];
  const body = operator.argument.replace(/^\(\?[a-zA-Z]+\)/, '');
  const found: Finding[] = [];
  if (/^\^?\.[*+]\??/.test(body) && body.replace(/^\^?\.[*+]\??/, '') !== '')
    found.push({
      code: 'GH-L0003',
      message: `the expression of rule ${rule.id} begins with .*, which says nothing and hides where it matches`,
      hint: 'Remove the .* at its beginning.',
      field: '/value',
    });
  else if (/^[A-Za-z0-9 ]{1,3}$/.test(body))
    found.push({
      code: 'GH-L0004',
      message: `the expression "${body}" of rule ${rule.id} matches anywhere in a value`,
      hint: 'Anchor it with ^ and $ or with \\b, or use @streq or @contains.',
      field: '/value',
    });
  if (/\((?:[^()]*[*+])\)[*+]/.test(body))
    found.push({
      code: 'GH-L0005',
      message: `the expression of rule ${rule.id} repeats a repetition`,
      hint:
        'Here it costs linear time; other engines may take exponential time. ' +
        'Write it without the inner repetition.',
      field: '/value',
    });
  return found;
}

function lintControl(rule: RuleIR, action: ActionIR): Finding[] {
  if (action.kind !== 'ctl') return [];
  const { control } = action;
  if (control.kind === 'requestBodyAccess' && !control.value)
    return [
      {
        code: 'GH-L0006',
        message: `rule ${rule.id} switches body inspection off: whoever makes it match sends any body past the rules`,
        hint: 'Exclude single rules or parameters instead.',
        field: '/action',
      },
    ];
  if (control.kind === 'ruleEngine' && control.value !== 'On')
    return [
      {
        code: 'GH-L0007',
        message: `rule ${rule.id} switches the engine ${control.value === 'Off' ? 'off' : 'to detection'}`,
        hint: 'Bind it to something a client cannot choose, such as REMOTE_ADDR.',
        field: '/action',
      },
    ];
  return [];
}

/** An allow that a client can trigger by what it sends. */
function lintAllow(rule: RuleIR): Finding[] {
  if (rule.disruptive.kind !== 'allow') return [];
  const bound = rule.links.some(({ targets }) => targets.some(({ variable }) => variable === 'REMOTE_ADDR'));
  return bound
    ? []
    : [
        {
          code: 'GH-L0008',
          message: `rule ${rule.id} lets requests through by something the client chooses`,
          hint: 'Add a condition on REMOTE_ADDR, or use an exclusion.',
          field: '/action',
        },
      ];
}

/** Warnings about the rules of a checked text; those of a visual rule are told at its fields. */
export function lintRules(program: Program, checked: CheckedRule, kind: CustomRule['kind']): RuleProblem[] {
  const rules = program.items.filter((item): item is RuleIR => item.kind === 'rule' && checked.ids.includes(item.id));
  return rules.flatMap((rule) => {
    const head = checked.heads.find(({ id }) => id === rule.id);
    const found = [
      ...lintPhase(rule),
      ...rule.links.flatMap((link) => [
        ...lintEmpty(rule, link),
        ...lintExpression(rule, link),
        ...link.actions.flatMap((action) => lintControl(rule, action)),
      ]),
      ...lintAllow(rule),
      ...lintEffect(rule, head),
    ];
    return found.map(({ field, ...one }): RuleProblem => {
      const place =
        kind !== 'raw'
          ? { path: kind === 'visual' ? field : '/any', line: 1, column: 1 }
          : { path: '/seclang', line: head?.line ?? 1, column: head?.column ?? 1 };
      return { severity: 'warning', excerpt: '', ...place, ...one };
    });
  });
}
