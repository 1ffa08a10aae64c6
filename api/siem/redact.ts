// What a connector leaves out of events, before any format sees them: the option `redact`, a list of words. A field
// that is left out is null in every format; nothing of it remains in another place of the event.
import { clientNetwork } from '../addresses/address.js';
import type { SecurityEvent } from './event.js';

/** What each word leaves out. */
export const redactions = {
  client_ip: 'the address of the client',
  client_host: 'the last part of the address: what remains is its /24, or its /48 of IPv6',
  query: 'the query of the address that was asked for',
  path: 'the path of it',
  user_agent: 'what the client said it is',
  matched: 'what rules matched',
  details: 'everything that has no field of its own',
  node: 'the name of the node',
  site: 'the name of the site and of the host',
} as const;
export type Redaction = keyof typeof redactions;

export const isRedaction = (word: string): word is Redaction => Object.hasOwn(redactions, word);

/** A copy without what the words name. Texts that repeat a hidden address or query lose it, too. */
export function redact(event: SecurityEvent, words: ReadonlySet<Redaction>): SecurityEvent {
  if (words.size === 0) return event;
  const has = (word: Redaction): boolean => words.has(word);
  const { request, client_ip: client } = event;
  const hidden: string[] = [];
  if ((has('client_ip') || has('client_host')) && client !== null) hidden.push(client);
  if (has('query') && request?.query) hidden.push(...textsOf(request.query));
  if (has('path') && request !== null && request.path.length > 1) hidden.push(request.path, safeDecode(request.path));
  if (has('user_agent') && request?.user_agent) hidden.push(request.user_agent);
  if (has('site') && event.site !== null) hidden.push(event.site, ...(request?.host ? [request.host] : []));
  if (has('node') && event.node !== null) hidden.push(event.node);
  const scrub = <T>(value: T): T => withoutTexts(value, hidden);
  return {
    ...event,
    name: scrub(event.name),
    node: has('node') ? null : event.node,
    site: has('site') ? null : event.site,
    client_ip: has('client_ip') ? null : has('client_host') && client !== null ? clientNetwork(client) : client,
    request:
      request === null
        ? null
        : {
            ...request,
            host: has('site') ? null : request.host,
            path: has('path') ? '/' : request.path,
            query: has('query') ? null : request.query,
            user_agent: has('user_agent') ? null : request.user_agent,
          },
    // what was matched may be any part of the request, decoded and cut: it goes with each of them
    rules: event.rules.map((rule) => ({
      ...rule,
      data: has('matched') || has('query') || has('path') || has('user_agent') ? null : scrub(rule.data),
    })),
    reason: scrub(event.reason),
    details: has('details') ? {} : scrub(event.details),
  };
}

/** A query whole and by its values, as they were sent and decoded: rules and reasons name single values. */
function textsOf(query: string): string[] {
  const values = query.split(/[&;]/).map((part) => part.slice(part.indexOf('=') + 1));
  const all = [query, ...values].flatMap((text) => [text, safeDecode(text), safeDecode(text.replaceAll('+', ' '))]);
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text shorter than this is found in too many others to be taken out of them. */
const tellingChars = 4;

function withoutTexts<T>(value: T, hidden: readonly string[]): T {
  const telling = hidden.filter((text) => text.length >= tellingChars);
  if (telling.length === 0) return value;
  const walk = (one: unknown): unknown => {
    if (typeof one === 'string') return telling.reduce((text, secret) => text.replaceAll(secret, '*'), one);
    if (Array.isArray(one)) return one.map(walk);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, walk(inner)]));
  };
  return walk(value) as T;
}
