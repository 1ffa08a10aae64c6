// What limits would have done to recorded requests: the same places and the same clock as the gates use (GCRA: all
// places at once, each comes back after window / events). Each limit is asked on its own.
//
// Paths are compared as they were written, decoded once and without case; the gates compare more readings of odd paths.
// Records keep no header fields: a zone by header is not counted.
import { parseWindow } from '#settings';
import { toSourceKey } from '../addresses/address.js';

export interface EffectLimit {
  readonly kind: 'default' | 'zone' | 'endpoint';
  /** Of a zone a prefix, of an endpoint a template; null: every path. */
  readonly path: string | null;
  /** null: every one. */
  readonly method: string | null;
  readonly key: string;
  readonly events: number;
  readonly window: string;
}

export interface RecordedRequest {
  readonly at_ms: number;
  /** Counts for itself, unless limits are shared. */
  readonly node: string;
  readonly client_ip: string;
  readonly method: string;
  readonly path: string;
}

export interface Effect {
  /** Requests that the limit counts. */
  readonly matched: number;
  readonly limited: number;
  /** Clients that would have been limited. */
  readonly clients: number;
}

/** As paths are compared: decoded, lower case, without a slash at the end; `/` is ''. */
export function comparable(path: string): string {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // it is no UTF-8: compared as it was written
  }
  return decoded
    .toLowerCase()
    .replaceAll(/\/{2,}/g, '/')
    .replace(/\/$/, '');
}

const isPlaceholder = (segment: string): boolean => /^\{[^{}/]*\}$/.test(segment);

/** What every path of the limit begins with, for the question to the database. */
export function literalPrefix({ path }: Pick<EffectLimit, 'path'>): string {
  const segments = comparable(path ?? '').split('/');
  const end = segments.findIndex((segment) => isPlaceholder(segment) || segment === '*');
  return end === -1 ? segments.join('/') : `${segments.slice(0, end).join('/')}/`;
}

function isTemplateOf(template: readonly string[], path: readonly string[]): boolean {
  const isOpen = template.at(-1) === '*';
  const fixed = isOpen ? template.slice(0, -1) : template;
  if (isOpen ? path.length < fixed.length : path.length !== fixed.length) return false;
  return fixed.every((segment, at) =>
    isPlaceholder(segment) ? path[at] !== '' : segment === path[at] || path[at]?.split('.')[0] === segment,
  );
}

/** Whether a request is one of those that the limit counts. */
export function isMeant(limit: EffectLimit): (request: Pick<RecordedRequest, 'method' | 'path'>) => boolean {
  const { kind, method } = limit;
  const own = comparable(limit.path ?? '');
  const template = own.split('/');
  const isMethod = (asked: string): boolean =>
    method === null || asked === method || (asked === 'HEAD' && method === 'GET');
  return ({ method: asked, path }) => {
    if (!isMethod(asked)) return false;
    const of = comparable(path);
    if (kind === 'endpoint') return isTemplateOf(template, of.split('/'));
    return own === '' || of === own || of.startsWith(`${own}/`) || of.startsWith(`${own}.`);
  };
}

/** An IPv6 client is its /64. IPv4, as most are, is not parsed: an hour has many records. */
const clientOf = (address: string): string => (address.includes(':') ? toSourceKey(address) : address);

/** `requests` in order of time; null where records do not say who is counted. */
export function effectOf(limit: EffectLimit, requests: Iterable<RecordedRequest>, isShared: boolean): Effect | null {
  if (limit.key.startsWith('header:')) return null;
  const meant = isMeant(limit);
  const windowMs = (parseWindow(limit.window) ?? 60) * 1000;
  const everyMs = windowMs / limit.events;
  /** Per client, when all of its places are back. */
  const fullAt = new Map<string, number>();
  const limitedClients = new Set<string>();
  let [matched, limited] = [0, 0];
  for (const request of requests) {
    if (!meant(request)) continue;
    matched += 1;
    const client = clientOf(request.client_ip);
    const key = `${isShared ? '' : request.node} ${limit.key === 'global' ? '' : client}`;
    const next = Math.max(fullAt.get(key) ?? 0, request.at_ms) + everyMs;
    if (next - request.at_ms > windowMs + 1e-6) {
      limited += 1;
      limitedClients.add(client);
    } else fullAt.set(key, next);
  }
  return { matched, limited, clients: limitedClients.size };
}
