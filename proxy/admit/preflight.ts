// Preflight requests of CORS (Fetch standard, "CORS-preflight fetch"). Browsers send them without credentials, cookies
// and body, so gates that ask for credentials let them through. Any client can send one: what goes on to the
// application is only what a preflight needs, and what comes back is only the application's CORS policy.
import type { RequestHead } from '#engine';
import { isNamed, isToken } from '../http/header-fields.js';
import type { GateRequest } from './gate.js';

/** Fields of which a preflight has none: credentials, a body, another method. */
const foreignFields: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'x-api-key',
  'content-type',
  'content-encoding',
  'expect',
  'upgrade',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

const originText = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[^\s/,;@?#\\]+)$/i;

const isTokenList = (value: string): boolean => value.split(',').every((part) => isToken(part.trim()));

/**
 * One Origin and one Access-Control-Request-Method, at most one Access-Control-Request-Headers, each sound; nothing
 * that carries credentials or a body.
 */
export function isPreflight({ head, exchange }: Pick<GateRequest, 'head' | 'exchange'>): boolean {
  if (head.method !== 'OPTIONS' || exchange.framing.kind !== 'none' || exchange.isUpgrade) return false;
  let origins = 0;
  let methods = 0;
  let lists = 0;
  for (let index = 0; index < head.headers.length; index += 2) {
    const name = head.headers[index] as string;
    const value = head.headers[index + 1] as string;
    if (isNamed(name, 'origin')) {
      origins += 1;
      if (!originText.test(value)) return false;
    } else if (isNamed(name, 'access-control-request-method')) {
      methods += 1;
      if (value === '' || !isToken(value)) return false;
    } else if (isNamed(name, 'access-control-request-headers')) {
      lists += 1;
      if (value !== '' && !isTokenList(value)) return false;
    } else if (foreignFields.has(name.toLowerCase().replaceAll('_', '-'))) return false;
  }
  return origins === 1 && methods === 1 && lists <= 1;
}

const cors = 'access-control-request-(?:method|headers|private-network|local-network)|origin|sec-fetch-.*';
/** Where the request comes from. Who sends it (X-Forwarded-User) and what it really asks for is no part of it. */
const hops = 'host|via|cdn-loop|forwarded|x-forwarded-(?:for|proto|host|port|prefix|scheme|server|ssl)|x-real-ip';
const requestFields = new RegExp(`^(?:${cors}|${hops}|user-agent|accept|accept-language)$`, 'i');

/** What of a preflight goes on. */
export function preflightHead(head: RequestHead): RequestHead {
  const headers: string[] = [];
  for (let index = 0; index < head.headers.length; index += 2)
    if (requestFields.test(head.headers[index] as string))
      headers.push(head.headers[index] as string, head.headers[index + 1] as string);
  return { ...head, headers };
}

/** A query can do what a body does. */
export function preflightTarget(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

const replyFields = /^(?:access-control-.*|allow|vary|cache-control|x-request-id)$/i;

/** What of the application's answer goes back: its policy, no content and no cookies. */
export function preflightReply(fields: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2)
    if (replyFields.test(fields[index] as string)) kept.push(fields[index] as string, fields[index + 1] as string);
  return kept;
}
