// What a notice says, once for every kind of channel; a digest is a message of several events. Titles are texts of
// tools and clients: each sender writes them in a form in which they mean nothing.
import type { Texts } from '../templates/stored.js';
import { lineBy, subjectOf } from './notice-text.js';
import { severityNames } from '../findings/words.js';
import { eventTypes } from '../kit/events.js';
import type { OutboxEvent } from '../kit/outbox.js';
import { maskSecrets } from '../secrets/mask.js';

/** An event as a notice keeps it. */
export interface NoticedEvent extends Omit<OutboxEvent, 'at' | 'told'> {
  readonly at: string;
}

export interface MessageLine {
  readonly text: string;
  readonly title: string | null;
  readonly application: string | null;
  readonly severity: string | null;
  readonly url: string | null;
}

export interface Message {
  /** The same for each attempt to send it: receivers know it again. */
  readonly id: string;
  readonly subject: string;
  readonly lines: readonly MessageLine[];
  /** Events beyond those of `lines`. */
  readonly more: number;
  /** 0 info to 4 critical: the worst of them; null: of no finding. */
  readonly severity: number | null;
  readonly at: string;
  /** Of e-mail: who gets it, in the place of those that the channel names. */
  readonly to?: readonly string[];
  /** Of e-mail: the other kinds of channel carry none. */
  readonly attachment?: { readonly name: string; readonly mediaType: string; readonly content: Buffer };
}

/** So many are written out in one message; the others are counted. */
const linesMax = 50;
const textMax = 300;

/** In one line, without what turns the direction of text, secrets masked. */
export const cleanText = (text: string): string =>
  // eslint-disable-next-line no-control-regex
  maskSecrets(text.replace(/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]+/g, ' ')).slice(0, textMax);

const pathsOfOthers: Readonly<Partial<Record<NoticedEvent['entity'], (id: string) => string>>> = {
  report: () => '/vulnerabilities/reports',
  schedule: (id) => `/vulnerabilities/schedules?schedule=${encodeURIComponent(id)}`,
};

const pathOf = ({ type, entity, entity_id: id }: NoticedEvent): string | null =>
  entity === 'finding'
    ? `/vulnerabilities?status=all&finding=${encodeURIComponent(id)}`
    : entity === 'acceptance'
      ? `/vulnerabilities/acceptances?acceptance=${encodeURIComponent(id)}`
      : entity === 'chain'
        ? '/vulnerabilities/chains'
        : type === 'import.done'
          ? '/vulnerabilities/imports'
          : entity === 'component'
            ? '/admin/health'
            : (pathsOfOthers[entity]?.(id) ?? null);

function lineOf(event: NoticedEvent, console: string | undefined): MessageLine {
  const path = pathOf(event);
  return {
    text: eventTypes[event.type],
    title: event.title === null ? null : cleanText(event.title),
    application: event.application === null ? null : cleanText(event.application),
    severity: event.severity === null ? null : (severityNames[event.severity] ?? null),
    url: console === undefined || path === null ? null : `${console.replace(/\/+$/, '')}${path}`,
  };
}

/** `events` is not empty. `texts`: of a template. */
export function messageOf(
  id: string,
  brand: string,
  events: readonly NoticedEvent[],
  console?: string,
  texts: Texts = {},
): Message {
  const shown = events.slice(0, linesMax).map((event) => {
    return { event, brand, count: events.length, line: lineOf(event, console) };
  });
  const [first] = shown;
  const severities = events.flatMap(({ severity }) => severity ?? []);
  return {
    id,
    subject: first === undefined ? brand : subjectOf(texts, first),
    lines: shown.map((one) => lineBy(texts, one)),
    more: events.length - shown.length,
    severity: severities.length === 0 ? null : Math.max(...severities),
    at: events.at(-1)?.at ?? '',
  };
}

export const testMessage = (id: string, brand: string, at: string): Message => ({
  id,
  subject: `${brand}: test of a channel`,
  lines: [{ text: 'This is a test. Nothing happened.', title: null, application: null, severity: null, url: null }],
  more: 0,
  severity: null,
  at,
});

/** A line as plain text. */
export const plainLine = ({ text, title, application, severity, url }: MessageLine): string =>
  [
    `${severity === null ? '' : `[${severity}] `}${text}${title === null ? '' : `: ${title}`}`,
    application === null ? '' : ` (${application})`,
    url === null ? '' : `\n  ${url}`,
  ].join('');
