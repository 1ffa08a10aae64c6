// The request head as the upstream receives it, built from the same snapshot that was inspected. Nothing is re-read
// from the listener: what was inspected is what is forwarded, less the hop's own fields, plus what this proxy vouches
// for.
import type { RequestHead } from '#engine';
import { isClaim } from '../http/claimed-fields.js';
import { codingOf } from '../http/decode-body.js';
import { dashed, decidedBy, isOtherSpelling, type NamedFields } from '../http/alike-fields.js';
import { connectionListed, findField, hopByHopFields, joinedField, listHasToken } from '../http/header-fields.js';
import type { Exchange } from '../listeners/listener.js';
import type { RequestTrace } from '../records/request-trace.js';
import { simulationField } from '../simulation/mark.js';
import { masksReplies, strongTags } from '../response-mask/reply-mask.js';
import type { Generation } from '../worker/generation.js';
import type { Site } from './route.js';
import { inspectsMessages } from './websocket-messages.js';

export interface ForwardFacts {
  readonly site: Site;
  readonly target: string;
  readonly requestId: string;
  /** The connection's peer is a proxy whose X-Forwarded-* are believed and continued. */
  readonly isFromTrustedProxy: boolean;
  readonly isTls: boolean;
  readonly peerIp: string;
  /** Bytes of the body that follows; 'chunked', or null when there is none. */
  readonly body: number | 'chunked' | null;
  readonly isUpgrade: boolean;
  /** WebSocket extensions may be negotiated with the upstream. */
  readonly keepsExtensions: boolean;
  /** Rules will look at the response: it must come in a coding that can be undone for them. */
  readonly isInspected: boolean;
  /** Card numbers in the answer are masked: it must come without a coding, and tags in `If-Match` as they were. */
  readonly masksReply: boolean;
  /** Trailers of the response can be relayed: a client that says it takes them is passed on as one. */
  readonly relaysTrailers: boolean;
  /** Of road/limits/loop-guard.ts, behind what CDN-Loop has already; '' writes none. */
  readonly loopMark: string;
  /** null or absent: it is not traced, and what the client sent of a trace goes on as it came. */
  readonly trace?: Pick<RequestTrace, 'header' | 'isContinued'> | null;
  /** By which the settings decide (http/alike-fields.ts). */
  readonly namedFields?: NamedFields;
}

/**
 * What does not go on as it came. `own`: written anew below, or of this hop. `claim`: where the client is, who it is,
 * or which path and host it really asked for; upstreams believe it of a proxy in front of them, so it goes on from
 * trusted proxies only (claimed-fields.ts). A path in it (X-Original-URL) would be a way round the choice of a site, a
 * user in it (X-Forwarded-User) a login.
 */
const treatmentOf = (lower: string): 'own' | 'claim' | undefined =>
  ownFields.has(lower) ? 'own' : isClaim(lower) ? 'claim' : undefined;

const ownFields: ReadonlySet<string> = new Set([
  ...hopByHopFields,
  'host',
  'content-length',
  'expect',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  simulationField,
  'cookie', // several become one list, see below
  'proxy', // CGI programs would take it for their own HTTP_PROXY setting
]);

const isAlike = (lower: string): boolean => {
  const name = dashed(lower);
  return name !== lower && (treatmentOf(name) !== undefined || decidedBy.has(name));
};

/** The request that goes on. */
interface Forwarded {
  readonly head: RequestHead;
  readonly requestId: string;
  readonly exchange: Pick<Exchange, 'head' | 'isTls' | 'isUpgrade' | 'tunnelsRawBytes' | 'relaysTrailers'>;
  readonly body: { readonly announced: number | 'chunked' } | null;
  readonly inspection: { readonly isOn: boolean } | null;
  readonly generation: Generation;
  readonly trace?: ForwardFacts['trace'];
}

/** `buildForwardHead` of a request on the road, under what its routing said. */
export function forwardHeadOf(
  request: Forwarded,
  routed: Pick<ForwardFacts, 'site' | 'target' | 'isFromTrustedProxy' | 'loopMark'>,
  head = request.head,
): string {
  const { requestId, exchange, body, inspection, generation } = request;
  // Field by field: a spread in front of further fields leaves V8's fast path for literals, and cost 15 µs a request.
  return buildForwardHead(head, {
    site: routed.site,
    target: routed.target,
    isFromTrustedProxy: routed.isFromTrustedProxy,
    loopMark: routed.loopMark,
    requestId,
    isTls: exchange.isTls,
    peerIp: exchange.head.clientIp,
    body: body === null ? null : body.announced,
    isUpgrade: exchange.isUpgrade,
    keepsExtensions: exchange.tunnelsRawBytes && !inspectsMessages(request),
    isInspected: inspection?.isOn === true,
    masksReply: masksReplies(request),
    relaysTrailers: exchange.relaysTrailers,
    trace: request.trace ?? null,
    namedFields: generation.namedFields(routed.site.name),
  });
}

/** Few clients, few values; emptied when it is full, because clients choose them. */
const readable = new Map<string, string>();
const readableMax = 256;

/**
 * An Accept-Encoding without the codings that cannot be undone here: a client could choose one (zstd, or any by `*`) to
 * get a leak past the rules for response bodies.
 */
function readableCodings(value: string): string {
  const known = readable.get(value);
  if (known !== undefined) return known;
  const kept = value.split(',').filter((part) => codingOf(part.split(';', 1)[0] as string) !== 'unknown');
  const codings = kept.length === 0 ? 'identity' : kept.join(',').trim();
  if (readable.size >= readableMax) readable.clear();
  readable.set(value, codings);
  return codings;
}

function valueFor(lower: string, value: string, { isInspected, masksReply }: ForwardFacts): string {
  if (masksReply && lower === 'if-match') return strongTags(value);
  if (lower !== 'accept-encoding') return value;
  return masksReply ? 'identity' : isInspected ? readableCodings(value) : value;
}

/**
 * A field name as sent → lower case, and what becomes of the field; `alike`: as in http/alike-fields.ts. `other`: the
 * name that some servers make of it; null: its own.
 */
interface KnownName {
  readonly lower: string;
  readonly other: string | null;
  readonly treatment: 'own' | 'claim' | 'alike' | 'kept';
}

/** Clients send the same few names; emptied when it is full, because they choose them. */
const knownNames = new Map<string, KnownName>();
const knownNamesMax = 512;
const knownNameMax = 64;

function nameOf(name: string): KnownName {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const treatment = treatmentOf(lower) ?? (isAlike(lower) ? 'alike' : 'kept');
  const plain = dashed(lower);
  const found: KnownName = { lower, other: plain === lower ? null : plain, treatment };
  if (knownNames.size >= knownNamesMax) knownNames.clear();
  if (name.length <= knownNameMax) knownNames.set(name, found);
  return found;
}

/** Fields of a trace that this hop writes anew; what is beside a trace that is gone on with is kept. */
const isOfTrace = (lower: string, { isContinued }: NonNullable<ForwardFacts['trace']>): boolean =>
  lower === 'traceparent' || (lower === 'tracestate' && !isContinued);

/**
 * Request line, header fields and blank line, latin1. Field names that would become one of ours, or another of the
 * request, in a CGI environment (`X_Forwarded_For`; some servers make an underscore of a dot, too) are dropped: an
 * upstream could not tell them apart.
 */
export function buildForwardHead(head: RequestHead, facts: ForwardFacts): string {
  const { headers } = head;
  const { site } = facts;
  const traced = facts.trace ?? null;
  const connection = joinedField(headers, 'connection');
  const listed =
    connection === null || connection === 'keep-alive' || connection === 'close' ? null : connectionListed(connection);
  let host = '';
  let forwardedFor = '';
  let forwardedProto = '';
  let forwardedHost = '';
  let hadLength = false;
  let takesTrailers = false;
  let cookies: string | null = null;
  let text = '';
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    const { lower, other, treatment } = nameOf(name);
    if (treatment === 'own') {
      if (lower === 'host') host = value;
      else if (lower === 'content-length') hadLength = true;
      else if (lower === 'cookie') cookies = cookies === null ? value : `${cookies}; ${value}`;
      else if (lower === 'te') takesTrailers ||= facts.relaysTrailers && listHasToken(value, 'trailers');
      else if (facts.isFromTrustedProxy) {
        if (lower === 'x-forwarded-for') forwardedFor = forwardedFor === '' ? value : `${forwardedFor}, ${value}`;
        else if (lower === 'x-forwarded-proto') forwardedProto = value;
        else if (lower === 'x-forwarded-host') forwardedHost = value;
      }
      continue;
    }
    if ((treatment === 'claim' && !facts.isFromTrustedProxy) || (listed !== null && listed.has(lower))) continue;
    if (facts.isUpgrade && !facts.keepsExtensions && lower === 'sec-websocket-extensions') continue;
    if (isOtherSpelling(facts.namedFields, lower, other)) continue;
    if (other !== null && findField(headers, other) !== null && facts.namedFields?.get(other) !== lower) continue;
    if (treatment === 'alike' || (traced !== null && isOfTrace(lower, traced))) continue;
    text += `${name}: ${valueFor(lower, value, facts)}\r\n`;
  }
  const forwardedChain = forwardedFor === '' ? facts.peerIp : `${forwardedFor}, ${facts.peerIp}`;
  const ownHost = site.preservesHost && host !== '' ? host : site.upstreamAuthority;
  const proto = forwardedProto !== '' ? forwardedProto : facts.isTls ? 'https' : 'http';
  let own =
    `Host: ${ownHost}\r\nX-Request-Id: ${facts.requestId}\r\nX-Forwarded-For: ${forwardedChain}\r\n` +
    `X-Forwarded-Proto: ${proto}\r\nX-Forwarded-Host: ${forwardedHost !== '' ? forwardedHost : host}\r\n`;
  if (facts.loopMark !== '') own += `CDN-Loop: ${facts.loopMark}\r\n`;
  if (traced !== null) own += `traceparent: ${traced.header}\r\n`;
  if (facts.body === 'chunked') own += 'Transfer-Encoding: chunked\r\n';
  else if (facts.body !== null) own += `Content-Length: ${facts.body}\r\n`;
  else if (hadLength) own += 'Content-Length: 0\r\n';
  own += facts.isUpgrade
    ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
    : takesTrailers
      ? 'Connection: keep-alive, TE\r\nTE: trailers\r\n'
      : 'Connection: keep-alive\r\n';
  // Clients send one Cookie field (RFC 6265 section 5.4), HTTP/2 may split it at "; " (RFC 9113 section 8.2.3). Servers
  // join several with a comma, which reads otherwise than the list that was inspected.
  if (cookies !== null) text += `Cookie: ${cookies}\r\n`;
  return `${head.method} ${facts.target} HTTP/1.1\r\n${own}${text}\r\n`;
}
