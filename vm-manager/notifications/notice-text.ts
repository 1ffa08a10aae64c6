// The words of a notice by a template: a subject, and a line for each event. What is filled in is masked and is one
// line; each sender escapes the whole for its receiver.
import { eventTypes } from '../kit/events.js';
import { fillText } from '../templates/engine.js';
import type { Texts } from '../templates/stored.js';
import type { MessageLine, NoticedEvent } from './message.js';

export interface Noticed {
  readonly event: NoticedEvent;
  readonly line: MessageLine;
  readonly brand: string;
  /** Events of the message. */
  readonly count: number;
}

/** Placeholder → value. A name is never given another meaning: templates stand in the settings of people. */
export const noticePlaceholders: Readonly<Record<string, (of: Noticed) => string>> = {
  brand: ({ brand }) => brand,
  summary: ({ line: { severity, title, text }, count }) =>
    count === 1 ? `${severity === null ? '' : `[${severity}] `}${title ?? text}` : `${count} events`,
  event: ({ event }) => eventTypes[event.type],
  type: ({ event }) => event.type,
  title: ({ line }) => line.title ?? '',
  application: ({ line }) => line.application ?? '',
  severity: ({ line }) => line.severity ?? '',
  count: ({ count }) => String(count),
  at: ({ event }) => event.at,
  url: ({ line }) => line.url ?? '',
};
export const noticeDefaults = { subject: '{{brand}}: {{summary}}', line: '' } as const;

const subjectMax = 200;
const lineMax = 500;
const fill = (template: string, of: Noticed): string =>
  fillText(template, (name) => noticePlaceholders[name]?.(of) ?? '').replace(/\s+/g, ' ');

/** Never empty: a subject whose placeholders all are is the brand. */
export const subjectOf = (texts: Texts, of: Noticed): string =>
  (fill(texts['subject'] ?? noticeDefaults.subject, of) || of.brand).slice(0, subjectMax);

/** The line as the channel shows it best, or as the template says. */
export function lineBy(texts: Texts, of: Noticed): MessageLine {
  const template = texts['line'] ?? noticeDefaults.line;
  if (template === '') return of.line;
  const text = fill(template, of).slice(0, lineMax) || of.line.text;
  return {
    text,
    title: null,
    application: null,
    severity: null,
    url: /\{\{\s*url/.test(template) ? null : of.line.url,
  };
}
