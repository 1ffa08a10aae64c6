// What a model answered, as far as it may be shown: plain text of bounded length, citations of what it was sent, and
// proposals. It can cause nothing: no part of an answer is run, followed or stored anywhere but in the log.
import type { Sources } from './gather.js';

const textMax = 6000;
const answerMax = 60_000;
const listMax = 20;
export const proposalKinds = ['fix', 'rule', 'exclusion', 'mute', 'ticket'] as const;

export interface Told {
  readonly texts: Readonly<Record<string, string>>;
  readonly citations: readonly { readonly kind: string; readonly id: string; readonly title: string }[];
  /** Ids that the answer named and that were not sent. */
  readonly dropped: number;
  readonly proposals: readonly {
    readonly kind: (typeof proposalKinds)[number];
    readonly title: string;
    readonly text: string;
  }[];
}

function parse(text: string): Readonly<Record<string, unknown>> | null {
  const [, inner] = /^\s*```(?:json)?\s*([\s\S]*?)```\s*$/u.exec(text) ?? [];
  try {
    const told: unknown = JSON.parse(inner ?? text);
    return typeof told === 'object' && told !== null && !Array.isArray(told) ? (told as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Plain text: no markup, no addresses to follow, no signs that are not seen, and one form of each letter. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, (sign) => (sign === '\n' || sign === '\t' ? sign : ''))
    .replace(/<[^<>]{0,2000}>/g, '')
    .replace(/!?\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)/g, '$1')
    .replace(/\b(?:data|javascript|file|mailto|vbscript):\/{0,2}[^\s"'<>)\]]+/gi, '[address left out]')
    .replace(/\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>)]+/gi, '[address left out]')
    .replace(/(?<![:\w/])\/\/[\w-]+(?:\.[\w-]+)+[^\s"'<>)]*/g, '[address left out]')
    .replace(/\bwww\d?(?:\.|\[\.\])[^\s"'<>)]+/gi, '[address left out]')
    .replace(/\b[\w-]+(?:(?:\.|\[\.\])[\w-]+)*\[\.\][\w.[\]-]+(?:\/[^\s"'<>)]*)?/g, '[address left out]')
    .slice(0, textMax)
    .trim();
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 4 * textMax) : '');

/** Ids are written as `finding:12`; those that were not sent are taken out of texts, and counted. */
class Reader {
  readonly cited = new Set<string>();
  dropped = 0;
  private readonly sources: Sources;
  private readonly sentIds: ReadonlySet<string>;

  constructor(sources: Sources, sent: string) {
    this.sources = sources;
    this.sentIds = new Set(sent.match(namedIds)?.map(asSent) ?? []);
  }

  cite(id: string): boolean {
    const isKnown = this.sources.has(id);
    if (isKnown) this.cited.add(id);
    else this.dropped++;
    return isKnown;
  }

  text(value: unknown): string {
    return plain(stringOf(value))
      .replace(/\b(finding|application)\s?[:#\s]\s?(\d{1,18})(?!\d)/gi, (all, kind: string, id: string) =>
        this.cite(`${kind.toLowerCase()}:${id}`) ? all : `${kind} [left out]`,
      )
      .replace(namedIds, (id) => {
        if (this.sentIds.has(asSent(id))) return id;
        this.dropped++;
        return '[left out]';
      });
  }
}
/** Of vulnerabilities, which a model likes to make up. */
const namedIds = /\b(?:CVE[-\p{Pd} ]\d{4}[-\p{Pd} ]\d{3,7}|GHSA(?:[-\p{Pd}][a-z0-9]{4}){3})\b/giu;
const asSent = (id: string): string => id.toUpperCase().replace(/[\p{Pd} ]/gu, '-');

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value.slice(0, listMax) : []);

/** `wanted`: members that have to be texts. A message for people for every other answer. */
export function readTold(answer: string, wanted: readonly string[], sources: Sources, sent: string): Told | string {
  const told = answer.length > answerMax ? null : parse(answer);
  if (told === null || wanted.some((name) => typeof told[name] !== 'string'))
    return 'The model did not answer in the form that was asked for.';
  const reader = new Reader(sources, sent);
  const texts = Object.fromEntries(wanted.map((name) => [name, reader.text(told[name])]));
  if (Object.values(texts).every((text) => text === '')) return 'The model answered with nothing.';
  for (const id of listOf(told['citations'])) reader.cite(stringOf(id).trim().toLowerCase());
  const proposals = listOf(told['proposals']).flatMap((one) => {
    const { kind, title, text } = (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>;
    const known = proposalKinds.find((name) => name === kind);
    const [named, said] = [reader.text(title).slice(0, 200), reader.text(text)];
    return known === undefined || said === '' ? [] : [{ kind: known, title: named || known, text: said }];
  });
  const citations = [...reader.cited].flatMap((id) => sources.get(id) ?? []);
  return { texts, citations, dropped: reader.dropped, proposals: proposals.slice(0, 5) };
}
