// What a rule compares with and what it does when it matches, where it is not what its words say. ModSecurity takes all
// of this without a word; the meaning told here is the one that it has there, and has here.
import type { RuleHead } from '#compiler';
import type { ActionIR, LinkIR, RuleIR } from '#engine';
import type { Finding } from './lint.js';

const numericOperators: ReadonlySet<string> = new Set(['eq', 'ge', 'gt', 'le', 'lt']);

/** What is read of a text as a number: the digits at its beginning, else 0 (as C's atoi). */
const readNumber = (text: string): number => Number(/^\s*([+-]?\d+)/.exec(text)?.[1] ?? 0);

function lintNumber(rule: RuleIR, { operator }: LinkIR): Finding[] {
  if (operator === null || operator.template !== null || !numericOperators.has(operator.name)) return [];
  if (/^\s*[+-]?\d+\s*$/.test(operator.argument)) return [];
  return [
    {
      code: 'GH-L0010',
      message:
        `@${operator.name} of rule ${rule.id} compares numbers, and "${operator.argument.slice(0, 60)}" is none: ` +
        `it is read as ${readNumber(operator.argument)}`,
      hint: 'Write a whole number, or compare texts with @streq or @rx.',
      field: '/value',
    },
  ];
}

function lintCounter(rule: RuleIR, action: ActionIR): Finding[] {
  if (action.kind !== 'setvar' || (action.operation !== 'add' && action.operation !== 'subtract')) return [];
  const [only, ...more] = action.value;
  if (more.length > 0 || typeof only === 'object' || /^\s*[+-]?\d+\s*$/.test(only ?? '')) return [];
  return [
    {
      code: 'GH-L0010',
      message:
        `rule ${rule.id} counts with "${(only ?? '').slice(0, 60)}", which is no number: ` +
        `it is read as ${readNumber(only ?? '')}`,
      hint: 'Write a whole number, or a macro such as %{tx.critical_anomaly_score}.',
      field: '/action',
    },
  ];
}

const valueOf = (head: RuleHead | undefined, name: string): string | undefined =>
  head?.actions.find((action) => action.name === name)?.value ?? undefined;
const has = (head: RuleHead | undefined, name: string): boolean =>
  head?.actions.some((action) => action.name === name) ?? false;

const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];

/** A status that the client does not take for what the action says. */
function lintStatus(rule: RuleIR, head: RuleHead | undefined): Finding[] {
  const { disruptive } = rule;
  const written = valueOf(head, 'status');
  const finding = (message: string, hint: string): Finding[] => [{ code: 'GH-L0011', message, hint, field: '/action' }];
  if (disruptive.kind === 'deny' && disruptive.status < 400)
    return finding(
      `rule ${rule.id} refuses with status ${disruptive.status}: to the client, and in statistics, that is no refusal`,
      'Use a status from 400 to 599, such as 403.',
    );
  if (disruptive.kind === 'redirect' && written !== undefined && !redirectStatuses.includes(Number(written)))
    return finding(
      `rule ${rule.id} redirects with status ${written}, which is none of a redirect: clients get ${disruptive.status}`,
      `Use one of ${redirectStatuses.join(', ')}, or leave the status out: then it is 302.`,
    );
  if (written !== undefined && (disruptive.kind === 'pass' || disruptive.kind === 'allow'))
    return finding(
      `the status ${written} of rule ${rule.id} has no effect: the request is not refused`,
      'Write deny beside it, or remove the status.',
    );
  return [];
}

/** An action that comes too late, or means less than it says. */
function lintAction(rule: RuleIR, head: RuleHead | undefined): Finding[] {
  const { disruptive } = rule;
  if (rule.phase === 5 && (disruptive.kind !== 'pass' || has(head, 'block')))
    return [
      {
        code: 'GH-L0012',
        message: `rule ${rule.id} acts in phase 5, when the answer has been sent: it can only record`,
        hint: 'Use phase 1 or 2 for requests, 3 or 4 for answers.',
        field: '/phase',
      },
    ];
  if (disruptive.kind === 'pass' && has(head, 'block'))
    return [
      {
        code: 'GH-L0013',
        message:
          `"block" of rule ${rule.id} means what the default action says, which is "pass" here: ` +
          'the rule records and stops nothing',
        hint: 'Write deny,status:403 to refuse, or raise a score with setvar.',
        field: '/action',
      },
    ];
  return [];
}

const removals: ReadonlySet<string> = new Set([
  'ruleRemoveById',
  'ruleRemoveByTag',
  'ruleRemoveByMsg',
  'ruleRemoveTargetById',
  'ruleRemoveTargetByTag',
  'ruleRemoveTargetByMsg',
]);

/** Own rules are asked behind the core rule set: in the phase of its rules they come too late to change them. */
function lintLateRemoval(rule: RuleIR): Finding[] {
  const isRemoving = rule.links.some(({ actions }) =>
    actions.some((action) => action.kind === 'ctl' && removals.has(action.control.kind)),
  );
  if (!isRemoving || rule.phase === 1) return [];
  return [
    {
      code: 'GH-L0014',
      message:
        `rule ${rule.id} removes rules or targets in phase ${rule.phase}, ` +
        'when the rules of the core rule set for that phase have run',
      hint: 'Use phase 1, a rule exclusion of the settings, or SecRuleUpdateTargetById.',
      field: '/phase',
    },
  ];
}

/** Warnings about operators that compare numbers, and about what the rule does with its match. */
export function lintEffect(rule: RuleIR, head: RuleHead | undefined): Finding[] {
  return [
    ...rule.links.flatMap((link) => [
      ...lintNumber(rule, link),
      ...link.actions.flatMap((action) => lintCounter(rule, action)),
    ]),
    ...lintStatus(rule, head),
    ...lintAction(rule, head),
    ...lintLateRemoval(rule),
  ];
}
