// Rules about how a request is written, and not about what it holds. Their matches are weighed by the rest of the
// request: each names what it guards against, and when the request shows that this cannot be. A rule that is not here
// (methods, fields, extensions that the installation does not want) is obeyed, whatever is in the request.
import { isTextLike } from '../body/besides/text-like.js';
import { pathOf } from '../parse/path-readings.js';
import type { Transaction } from '../transaction/transaction.js';
import type { Evidence } from './opinion.js';
import type { AttackKind } from './sign.js';
import { protocolRulesOfLevels } from './higher-levels.js';
import { findSigns } from './support.js';

/** Bodies up to this length are read for signs; of a longer one the rule is believed. */
const bodyBytesMax = 65_536;
const kinds: readonly AttackKind[] = ['sql', 'code', 'script', 'file', 'header'];

export interface ProtocolRule {
  /** What the rule is for, and why its match is none when `doubts` says nothing. */
  readonly why: string;
  /**
   * Names of what speaks for the match; none: it says nothing against the request. `isTooMuch`: the value is too long,
   * or too much of the request was searched already, to search it for signs as well.
   */
  readonly doubts: (transaction: Transaction, found: Evidence, isTooMuch: boolean) => readonly string[];
}

/** `/anna@example.com`, and nothing that a system of files could take for a program. */
const address = /^[a-z0-9][\w.+-]{0,63}(?:@|%40)(?:[a-z0-9-]{1,63}\.){1,8}com$/i;
/** An escape of ASCII, or of what a code page of Windows makes ASCII of (full width, modifier letters, primes). */
const hiding = /\\u(?:00[0-7][0-9a-f]|ff[0-5][0-9a-f]|0[23][0-9a-f]{2}|203[25]|2215|2216)/i;
/** What no writer of JSON escapes (they do `<`, `>`, `&`, `+`, quotes and controls), or an entity of a bracket. */
const hidingInDocument = /\\u00(?:2[134589acde]|3[0-9abd]|[46][1-9a-f]|[57][0-9a]|5[b-f]|7[b-e])|\\u0026(?:dollar|l)/i;
/** `|application/x-other|`, as rule 920420 writes it; of a composite one the parts would be unread. */
const plainType = /^\|(?:application|audio|font|image|message|model|text|video)\/[a-z0-9][a-z0-9.+_-]{0,99}\|$/;
/** What servers run or bring to life, or take for a form. */
const runningType = /java|php|serialized|pickle|hessian|amf|form|urlencoded|marshal|script|http/;
/** Processors that leave nothing of a body unread. */
const readers: ReadonlySet<string> = new Set(['TEXT', 'JSON', 'XML']);
/** Names of UTF-8 and of its part ASCII that every decoder has, beside those that the CRS allows. */
const sameAsUtf8: ReadonlySet<string> = new Set(['|utf8|', '|us-ascii|', '|ascii|']);
/** Names that analytics and APIs give to visits of their own; frameworks take none of them out of an address. */
const visitName = /^ARGS_NAMES:(?:json\.)?session[-_]?id$/i;

/**
 * The body was read as text and as JSON in place of its missing type (rule 200011), so every rule has looked at it.
 * Browsers send beacons so. The whole body is searched for signs, too: a form in it is one value to the rules.
 */
function doubtsOfUntyped(transaction: Transaction): readonly string[] {
  return transaction.requestBodyProcessor === 'TEXT' ? doubtsOfBody(transaction) : ['body-unread'];
}

function doubtsOfBody({ requestBody, reqbodyError }: Transaction): readonly string[] {
  if (requestBody === null || reqbodyError) return ['body-unread'];
  if (requestBody.length > bodyBytesMax) return ['too-long'];
  const text = requestBody.toString('latin1');
  const raw = isTextLike(requestBody) ? text : textsIn(text);
  return [...new Set(kinds.flatMap((kind) => findSigns(kind, { raw, value: raw }).map(({ name }) => name)))];
}

/**
 * What of a packed or binary body somebody could take for text, with what databases and browsers read as white space
 * (no-break spaces, too): among bytes that come by chance every short sign stands somewhere, a line break, a letter and
 * a colon say, and beacons of browsers are packed.
 */
const textsIn = (bytes: string): string => (bytes.match(/[\t-\r\x20-\x7e\xa0\xc2]{6,}/g) ?? []).join('\x01');

/**
 * An operator who shortened the usual list of types wants nothing else, and is obeyed. The complete list has
 * octet-stream, so an attacker can use that name; a body of another type is read alike, and searched for signs, too.
 */
function doubtsOfType(transaction: Transaction, { value }: Evidence): readonly string[] {
  const { requestBodyBytes, requestBodyProcessor, tx } = transaction;
  if (tx.get('gatehouse_usual_types') !== '1') return ['media-type'];
  if (!plainType.test(value) || runningType.test(value)) return ['media-type'];
  if (transaction.phase >= 2 && requestBodyBytes === 0) return [];
  return readers.has(requestBodyProcessor) ? doubtsOfBody(transaction) : ['body-unread'];
}

/** A whole document of JSON is also read with its escapes resolved; escapes beyond ASCII hide nothing elsewhere. */
function doubtsOfEscape({ raw }: Evidence): readonly string[] {
  if (raw.length > bodyBytesMax) return ['too-long'];
  return (isDocument(raw) ? hidingInDocument : hiding).test(raw) ? ['escape-hides'] : [];
}

function isDocument(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Fixation needs a page that its victim's browser goes to. In Sec-Fetch-Mode, which no page can set, a browser
 * says that it fetches for a page instead; an attacker who writes the field has no victim.
 */
function doubtsOfSession({ requestHeaders, tx }: Transaction, { rule }: Evidence): readonly string[] {
  const mode = requestHeaders.find('sec-fetch-mode') ?? '';
  const name = tx.get(`${rule.id}_matched_var_name`) ?? '';
  return (mode === 'cors' || mode === 'no-cors') && visitName.test(name) ? [] : ['session-name'];
}

const untyped: ProtocolRule = {
  why: 'a body without a type might stay unread here; it is read as text and as JSON, and has no sign',
  doubts: doubtsOfUntyped,
};
const session: ProtocolRule = {
  why: 'a link with a session in it; the browser says that it follows none, and the name is one of analytics',
  doubts: doubtsOfSession,
};

export const protocolRules: ReadonlyMap<number, ProtocolRule> = new Map([
  [920_340, untyped],
  [920_640, untyped],
  [
    920_420,
    {
      why: 'a type that the installation does not expect; its list was never shortened, and the body has no sign',
      doubts: doubtsOfType,
    },
  ],
  [
    920_440,
    {
      why: 'a program of DOS; the last segment is the address of a mailbox, whose domain ends so',
      doubts: ({ requestBasename, request }, { value }) =>
        value === '.com/' && address.test(requestBasename) && address.test(lastSegment(request.uri))
          ? []
          : ['extension'],
    },
  ],
  [
    920_480,
    {
      why: 'a charset in which bytes mean what the rules do not see; this one is another name of UTF-8',
      doubts: (_, { value }) => (sameAsUtf8.has(value) ? [] : ['charset']),
    },
  ],
  [
    920_540,
    {
      why: 'escapes that an application resolves and rules do not; these are resolved here, or are no ASCII',
      doubts: (_, found) => doubtsOfEscape(found),
    },
  ],
  [943_110, session],
  [943_120, session],
  ...protocolRulesOfLevels,
]);

const lastSegment = (uri: string): string => pathOf(uri).split('/').at(-1) ?? '';
