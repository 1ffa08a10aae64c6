// Effects of rules as a form holds them and as people read them: pure, so that a test says what is sent.
import { endOfDay, showMoment } from '../../client/moments.js';
import { triageText as text } from '../../texts/resources/triage.js';

export type Kind = keyof typeof text.kinds;
export interface Effect {
  readonly set: Kind;
  readonly value?: string;
  readonly reason?: string;
  readonly justification?: string;
  readonly until?: string;
}
/** What is typed; `day` is the last day of a mute, in the zone of the browser. */
export interface Draft {
  readonly set: Kind;
  readonly value: string;
  readonly reason: string;
  readonly justification: string;
  readonly day: string;
}

export const kinds = Object.keys(text.kinds) as readonly Kind[];
export const states = Object.keys(text.states) as readonly (keyof typeof text.states)[];

const usual: Readonly<Record<Kind, string>> = {
  tag: '',
  assignee: '',
  severity: 'low',
  status: 'triaged',
  mute: '',
  notice: '',
};

export const draftOf = (set: Kind, day: string): Draft => ({
  set,
  value: usual[set],
  reason: '',
  justification: 'vulnerable_code_not_in_execute_path',
  day,
});

const dayOf = (until: string): string => {
  const at = new Date(Date.parse(until) - 1);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
};

export const toDraft = ({ set, value, reason, justification, until }: Effect, day: string): Draft => ({
  ...draftOf(set, until === undefined ? day : dayOf(until)),
  ...(value === undefined ? {} : { value }),
  ...(reason === undefined ? {} : { reason }),
  ...(justification === undefined ? {} : { justification }),
});

/** As the API takes it: what means nothing for the kind is left out. */
export function toEffect({ set, value, reason, justification, day }: Draft): Effect {
  const end = endOfDay(day);
  const why = reason.trim() === '' ? {} : { reason: reason.trim() };
  switch (set) {
    case 'tag':
    case 'assignee':
      return { set, value: value.trim() };
    case 'severity':
      return { set, value, ...why };
    case 'status':
      return { set, value, ...why, ...(value === 'false_positive' ? { justification } : {}) };
    case 'mute':
      return { set, ...why, ...(end === undefined ? {} : { until: end }) };
    case 'notice':
      return { set };
  }
}

/** Such as `adds the tag tests`. */
export function sentenceOfEffect({ set, value = '', until }: Effect, nameOf: (id: string) => string): string {
  if (set === 'assignee') return text.said.assignee(nameOf(value));
  if (set === 'mute') return text.said.mute(showMoment(until));
  if (set === 'status') return text.said.status(text.states[value as keyof typeof text.states] ?? value);
  return text.said[set](value);
}
