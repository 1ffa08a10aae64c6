// What a rule does to a finding for which its predicate holds. Everything here is about one finding in memory: what
// would change, and whether it may. What people did is never overwritten: a severity, an assignee, a state.
import { OneOf } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import type { FindingRow } from '../findings/fields.js';
import { findingFields } from '../findings/fields.js';
import { justifications, severityNames, severityNumbers, type Status } from '../findings/words.js';
import { toMoment, unfit } from '../kit/endpoint.js';
import { holds, type Predicate } from '../kit/predicate.js';

const effectNames = ['tag', 'assignee', 'severity', 'status', 'mute', 'notice'] as const;
/** States that a rule may give to a finding that no person has looked at. */
const ruleStatuses = ['triaged', 'confirmed', 'false_positive', 'out_of_scope'] as const;
const untouched: readonly Status[] = ['new', 'reopened'];
const tagsMax = 50;

export const EffectSchema = Type.Object(
  {
    set: OneOf(effectNames),
    value: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: '\\S',
        description: `a tag, the id of a user, a severity, or ${ruleStatuses.join(', ')}; nothing for mute and notice`,
      }),
    ),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 5000, description: 'why; needed for severity, status and mute' }),
    ),
    justification: Type.Optional(OneOf(justifications)),
    until: Type.Optional(
      Type.String({ maxLength: 40, description: 'when a mute ends: UTC, such as 2027-01-31T12:00:00Z' }),
    ),
  },
  { additionalProperties: false },
);
export const EffectsSchema = Type.Array(EffectSchema, { minItems: 1, maxItems: 10 });
export type Effect = Static<typeof EffectSchema>;

export interface Rule {
  readonly id: number;
  readonly name: string;
  readonly predicate: Predicate;
  readonly effects: readonly Effect[];
  /** Rules behind this one are not asked of findings for which it holds. */
  readonly stop: boolean;
  readonly revision: number;
}

const muteDaysMax = 366;
const members: Readonly<Record<Effect['set'], readonly (keyof Effect)[]>> = {
  tag: ['value'],
  assignee: ['value'],
  severity: ['value', 'reason'],
  status: ['value', 'reason'],
  mute: ['reason', 'until'],
  notice: [],
};

/** Throws 422 with the place for effects that contradict each other or lack something. Users are not looked up. */
export function checkEffects(effects: readonly Effect[], now: Date): void {
  const seen = new Set<string>();
  effects.forEach((effect, at) => {
    const path = `/effects/${at}`;
    const key = effect.set === 'tag' ? `tag ${effect.value}` : effect.set;
    if (seen.has(key)) throw unfit(path, 'says what another effect of this rule says already', 'keep one of them');
    seen.add(key);
    for (const name of members[effect.set])
      if (effect[name] === undefined) throw unfit(`${path}/${name}`, `is needed for ${effect.set}`);
    const allowed: readonly string[] = [
      'set',
      ...members[effect.set],
      ...(effect.set === 'status' ? ['justification'] : []),
    ];
    const surplus = Object.keys(effect).find((name) => !allowed.includes(name));
    if (surplus !== undefined) throw unfit(`${path}/${surplus}`, `means nothing for ${effect.set}`, 'leave it out');
    checkValue(effect, path, now);
  });
  if (seen.has('mute') && seen.has('status'))
    throw unfit('/effects', 'mutes and sets a state', 'a muted finding has no other state: keep one of them');
}

function checkValue({ set, value = '', justification, until = '' }: Effect, path: string, now: Date): void {
  if (set === 'tag' && value.length > 60) throw unfit(`${path}/value`, 'is a tag of more than 60 characters');
  if (set === 'severity' && !Object.hasOwn(severityNumbers, value))
    throw unfit(`${path}/value`, `must be one of ${severityNames.join(', ')}`);
  if (set === 'status') {
    if (!ruleStatuses.some((one) => one === value))
      throw unfit(`${path}/value`, `must be one of ${ruleStatuses.join(', ')}`);
    if ((value === 'false_positive') !== (justification !== undefined))
      throw unfit(
        `${path}/justification`,
        value === 'false_positive' ? `must be one of ${justifications.join(', ')}` : 'belongs to false_positive only',
      );
  }
  if (set !== 'mute') return;
  const end = toMoment(until, `${path}/until`);
  if (end <= now) throw unfit(`${path}/until`, 'is over already');
  if (end.getTime() > now.getTime() + muteDaysMax * 86_400_000)
    throw unfit(`${path}/until`, `is more than ${muteDaysMax} days ahead`);
}

export type Member = 'tag' | 'assignee' | 'severity' | 'status' | 'notice';

export interface Change {
  readonly rule: Rule;
  readonly effect: Effect;
  readonly member: Member;
  readonly before: unknown;
  readonly after: unknown;
}

/** What was done to a finding before: `done` or `undone`, by `keyOf`. */
export type Past = ReadonlyMap<string, 'done' | 'undone'>;

export const keyOf = (ruleId: number, revision: number, findingId: number, member: string, after: unknown): string =>
  JSON.stringify([ruleId, revision, findingId, member, member === 'severity' ? null : after]);

export interface Plan {
  readonly changes: readonly Change[];
  /** The finding as it is afterwards, but for its state, which `transition` moves. */
  readonly row: FindingRow;
}

/**
 * What these rules, in their order, do to one open finding. Each rule is asked once and sees what those before it did,
 * so that no two of them can go on for ever. What is in `past` is not done again; a severity is, where a report has
 * replaced it.
 */
export function plan(rules: readonly Rule[], given: FindingRow, past: Past, now: Date): Plan {
  let row = given;
  const changes: Change[] = [];
  for (const rule of rules) {
    if (!holds(rule.predicate, row as never, findingFields, now)) continue;
    for (const effect of rule.effects) {
      const made = changeOf(effect, row);
      if (made === null) continue;
      const was = past.get(keyOf(rule.id, rule.revision, row.id, made.member, made.after));
      if (was === 'undone' || (was === 'done' && made.member !== 'severity')) continue;
      changes.push({ rule, effect, ...made });
      row = withChange(row, made);
    }
    if (rule.stop) break;
  }
  return { changes, row };
}

type Made = Pick<Change, 'member' | 'before' | 'after'>;

function changeOf({ set, value = '' }: Effect, row: FindingRow): Made | null {
  switch (set) {
    case 'tag':
      if (row.tags.includes(value) || row.tags.length >= tagsMax) return null;
      return { member: 'tag', before: null, after: value };
    case 'assignee':
      return row.assignee_id === null ? { member: 'assignee', before: null, after: value } : null;
    case 'severity': {
      const severity = severityNumbers[value] ?? 0;
      if (row.severity === severity || row.severity_basis === 'person') return null;
      return { member: 'severity', before: [row.severity, row.severity_basis], after: severity };
    }
    case 'status':
      return untouched.includes(row.status) && row.status !== value
        ? { member: 'status', before: row.status, after: value }
        : null;
    case 'notice':
      return { member: 'notice', before: null, after: null };
    case 'mute':
      return null; // governance/mutes.ts: a mute of the rule's own holds for as long as the rule does
  }
}

function withChange(row: FindingRow, { member, after }: Made): FindingRow {
  switch (member) {
    case 'tag':
      return { ...row, tags: [...row.tags, after as string] };
    case 'assignee':
      return { ...row, assignee_id: after as string };
    case 'severity':
      return { ...row, severity: after as number, severity_basis: 'person' };
    case 'status':
      return { ...row, status: after as Status };
    case 'notice':
      return row;
  }
}
