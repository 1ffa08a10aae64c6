// Objects by their ids: which ones a path asks for, and which ones a message shows. An id that a counter gave out (42)
// says nothing without its noun (order 42 is no customer 42); one that is unique by itself (a UUID) needs none.
import { eachPair, parseJson, queryOf } from './look-into.js';
import { pathOf, segmentsOf } from './path.js';
import { segmentKind, type SegmentKind } from './segment-kind.js';

export interface ObjectId {
  /** Singular and lower case; '': the value is unique by itself. */
  readonly noun: string;
  /** The noun of either kind. */
  readonly label: string;
  readonly value: string;
}

/** The noun of a list that may hold anything; what it shows may be any object of that number. */
export const anyNoun = '*';

const numbered: ReadonlySet<SegmentKind> = new Set(['integer', 'year']);
const unique: ReadonlySet<SegmentKind> = new Set([
  ...(['uuid', 'ulid', 'objectid', 'snowflake', 'hex', 'prefixed', 'token', 'email'] as const),
]);
const vague: ReadonlySet<string> = new Set(
  (
    'search result item data entry element record row node edge hit list all page content value object feed ' +
    'dashboard home overview summary recent latest history favourite favorite graphql query batch me self current ' +
    'api rest ' +
    'embedded response body payload attribute collection export report activity event ' +
    'notification link related'
  ).split(' '),
);
const membersMax = 4000;
const depthMax = 12;

/** `orders`, `purchase-orders`, `recentOrders` → `order`: the last word, singular. */
export function nounOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const word = words.findLast((one) => one !== '') ?? '';
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ses|xes|zes|ches|shes)$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') && word.length > 3 ? word.slice(0, -1) : word;
}

const specific = (noun: string): string => (noun === '' || vague.has(noun) || /^v?\d*$/.test(noun) ? anyNoun : noun);

/** null: no id. Dates and decimals are values, and no ids. */
function idOf(value: string, noun: string): ObjectId | null {
  if (value === '' || value.length > 200) return null;
  const kind = segmentKind(value);
  const label = noun;
  if (kind === 'email') return { noun: '', label, value: value.toLowerCase().replace('%40', '@') };
  if (unique.has(kind)) return { noun: '', label, value };
  return numbered.has(kind) ? { noun, label, value: value.replace(/^0+(?=.)/, '') } : null;
}

/** The objects of a path, the outermost first; `/users/7/orders/42` has two. */
export function objectsOfPath(path: string): ObjectId[] {
  const found: ObjectId[] = [];
  let noun = '';
  for (const segment of segmentsOf(path)) {
    const id = idOf(segment, specific(noun));
    if (id === null) noun = nounOf(segment);
    else found.push(id);
  }
  return found;
}

/** What a collection is called: the last name of a path. */
export function nounOfPath(path: string): string {
  const names = segmentsOf(path).filter((segment) => idOf(segment, anyNoun) === null);
  return specific(nounOf(names.at(-1) ?? ''));
}

const idMember = /^(?:_?id|uuid|guid|pk|key|number|no|nr|num|ref|reference)$/i;
const idSuffix =
  /^(.+?)(?:[_-](?:id|uuid|guid|number|no|nr|ref|key)s?|I[dD]s?|U(?:uid|UID)|Number|No|Nr|Ref(?:erence)?|Key)$/;
const linkMember = /(?:^|_)(?:href|url|uri|link|self|location|path)$/i;

/** The noun that a member's name gives its number; null: the name speaks of no id. */
function nounOfMember(name: string, around: string): string | null {
  if (idMember.test(name)) return around;
  const prefix = idSuffix.exec(name)?.[1];
  return prefix === undefined ? null : specific(nounOf(prefix));
}

/** Query parameters that name an object: `?order_id=42`, `?id=42` of `/orders`. */
export function objectsOfQuery(uri: string): ObjectId[] {
  const query = queryOf(uri);
  if (query === '') return [];
  const around = nounOfPath(pathOf(uri));
  const found: ObjectId[] = [];
  eachPair(query, (name, value) => {
    const noun = nounOfMember(name, around);
    const id = noun === null || found.length >= 8 ? null : idOf(value, noun);
    if (id !== null) found.push(id);
  });
  return found;
}

export interface Shown extends ObjectId {
  /** It is what the message is about, not something that it names by the way. */
  readonly isSubject: boolean;
}

/**
 * The objects of a JSON text, for whoever asked at `path`; false: there were more than are looked at, or the text is no
 * JSON. Numbers beyond 2^53 are read as text, so that they stay what they are.
 */
export function objectsOfJson(text: string, path: string, found: (object: Shown) => void): boolean {
  const value = parseJson(/\d{16}/.test(text) ? text.replace(/([:[,]\s*)(\d{16,})(?=\s*[,\]}])/g, '$1"$2"') : text);
  if (value === undefined) return false;
  let left = membersMax;
  const offer = (given: unknown, noun: string, isSubject: boolean): void => {
    const id = typeof given === 'number' || typeof given === 'string' ? idOf(String(given), noun) : null;
    if (id !== null) found({ ...id, isSubject });
  };
  const visitMember = (name: string, member: unknown, around: string, isPart: boolean, depth: number): void => {
    const noun = nounOfMember(name, around);
    if (typeof member === 'object' && member !== null) {
      const inner = noun ?? specific(nounOf(name));
      visit(member, inner !== anyNoun ? inner : isPart ? nounOf(name) : around, depth + 1);
    } else if (noun !== null) offer(member, noun, depth <= 1 && idMember.test(name));
    else if (typeof member === 'string' && linkMember.test(name)) objectsOfPath(pathOf(member)).forEach(offerLink);
    else if (typeof member === 'string') offerUnique(member, name);
  };
  const offerUnique = (text: string, name: string): void => {
    // `OPS-1042` is an id by itself, however short
    const isShort = text.length < 16 && !(text.length >= 5 && segmentKind(text) === 'prefixed');
    const id = isShort ? null : idOf(text, specific(nounOf(name)));
    if (id?.noun === '') found({ ...id, isSubject: false });
  };
  const offerLink = (id: ObjectId): void => found({ ...id, isSubject: false });
  const visit = (member: unknown, around: string, depth: number): void => {
    if (depth > depthMax) left = -1;
    if ((left -= 1) < 0) return;
    if (Array.isArray(member)) {
      for (const item of member)
        if (typeof item === 'object' && item !== null) visit(item, around, depth + 2);
        else offer(item, around, false);
    } else if (typeof member === 'object' && member !== null) {
      const type = (member as Readonly<Record<string, unknown>>)['type'];
      const own = around === anyNoun && typeof type === 'string' && type.length < 40 ? specific(nounOf(type)) : around;
      // parts of an object that has an id of its own are numbered by themselves: line 1 of an order is no order 1
      const isPart = 'id' in member;
      for (const name in member) visitMember(name, (member as Record<string, unknown>)[name], own, isPart, depth);
    } else offer(member, around, false);
  };
  visit(value, nounOfPath(path), 0);
  return left >= 0;
}

/** Objects that links of a page lead to; false: more than are looked at. */
export function objectsOfHtml(text: string, found: (object: Shown) => void): boolean {
  let left = 1000;
  for (let at = text.indexOf('href='); at >= 0; at = text.indexOf('href=', at + 5)) {
    if ((left -= 1) < 0) return false;
    const quote = text[at + 5];
    const end = quote === '"' || quote === "'" ? text.indexOf(quote, at + 6) : -1;
    if (end < 0 || end - at > 1024) continue;
    const target = text.slice(at + 6, end);
    for (const id of [...objectsOfPath(pathOf(target)), ...objectsOfQuery(target)]) found({ ...id, isSubject: false });
  }
  return true;
}
