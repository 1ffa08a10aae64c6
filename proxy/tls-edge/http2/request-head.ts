// From the fields of an HTTP/2 request to the head that HTTP/1.1 would have had: one form for gates, rules and
// upstreams. Whatever a request line or a field of HTTP/1.1 could not carry is refused here, so that nothing of it
// becomes another request behind (RFC 9113 sections 8.2 and 8.3). The library refuses most of this itself; a proxy that
// forwards what it lets through would be a smuggling aid, so nothing is left to it.
import type { Framing, Refusal } from '../../http/framing.js';
import { isToken } from '../../http/header-fields.js';
import { checkRequestHead, type SyntaxLimits } from '../../http/request-syntax.js';

export interface Http2Head {
  readonly method: string;
  readonly uri: string;
  /** Flat, with `host` first, and one `cookie` at most. */
  readonly headers: string[];
  readonly framing: Framing;
  readonly refusal: Refusal | null;
  /** It waits for 100 Continue before it sends its body. */
  readonly isExpectant: boolean;
}

/** Fields of a connection, which HTTP/2 has not (section 8.2.2). */
const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** Characters of a head that are never compared: fewer cost little, however few bytes they came in. */
const freeCharacters = 4096;
/** Characters of fields that stand in a head already, name and value. */
const repeatedCharactersMax = 1024;

const pseudoNames: ReadonlySet<string> = new Set([':method', ':path', ':scheme', ':authority']);
const bad = (reason: string): Refusal => ({ status: 400, reason });

/** What is read of the fields before the check that all listeners share. */
class Fields {
  readonly pseudo = new Map<string, string>();
  readonly headers: string[] = [];
  host: string | null = null;
  isExpectant = false;
  refusal: Refusal | null = null;
  private cookieAt = -1;

  take(name: string, value: string): void {
    if (name.startsWith(':')) this.takePseudo(name, value);
    else this.takeField(name, trim(value));
  }

  private refuse(reason: string): void {
    this.refusal ??= bad(reason);
  }

  private takePseudo(name: string, value: string): void {
    if (!pseudoNames.has(name)) this.refuse('a pseudo-header field that is not known here');
    else if (this.pseudo.has(name)) this.refuse(`more than one ${name}`);
    else if (this.headers.length > 0 || this.host !== null) this.refuse('a pseudo-header field behind a header field');
    this.pseudo.set(name, value);
  }

  private takeField(name: string, value: string): void {
    if (!isToken(name) || name !== name.toLowerCase()) this.refuse('a field name that is none of HTTP/2');
    else if (connectionFields.has(name)) this.refuse('a field of a connection in HTTP/2');
    else if (name === 'te' && value.toLowerCase() !== 'trailers') this.refuse('a TE other than trailers');
    else if (name === 'host') this.takeHost(value);
    else if (name === 'cookie') this.takeCookie(value);
    else {
      if (name === 'expect' && value.toLowerCase() === '100-continue') this.isExpectant = true;
      this.headers.push(name, value);
    }
  }

  private takeHost(value: string): void {
    if (this.host !== null) this.refuse('more than one Host');
    this.host = value;
  }

  /** Clients may split the list at "; " (section 8.2.3); rules and upstreams see it whole. */
  private takeCookie(value: string): void {
    if (this.cookieAt === -1) {
      this.cookieAt = this.headers.length + 1;
      this.headers.push('cookie', value);
    } else this.headers[this.cookieAt] = `${this.headers[this.cookieAt] as string}; ${value}`;
  }

  /** The authority, or the Host that a proxy made of it; both have to say the same. */
  authority(): string | null {
    const authority = this.pseudo.get(':authority') ?? null;
    if (authority !== null && this.host !== null && authority.toLowerCase() !== this.host.toLowerCase())
      this.refuse('a Host that is not the authority');
    return authority ?? this.host;
  }
}

function trim(value: string): string {
  let begin = 0;
  let end = value.length;
  while (begin < end && isBlank(value.charCodeAt(begin))) begin += 1;
  while (end > begin && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return begin === 0 && end === value.length ? value : value.slice(begin, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/**
 * One byte names a field of up to 4 KiB that came before (HPACK), as often as it is written: what is the same field
 * again counts as nothing that was sent, or 44 bytes would be 30 KiB for rules to look through. Clients that split
 * cookies send each once.
 */
function refusalOfRepeats(raw: readonly string[]): Refusal | null {
  let characters = 0;
  for (const text of raw) characters += text.length;
  if (characters <= freeCharacters) return null;
  const known = new Set<string>();
  let repeated = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const field = `${raw[index] as string}:${raw[index + 1] as string}`;
    if (known.has(field)) repeated += field.length;
    else known.add(field);
  }
  return repeated > repeatedCharactersMax
    ? { status: 431, reason: `more than ${repeatedCharactersMax} characters of fields that are there already` }
    : null;
}

/**
 * `raw`: flat names and values as they came, latin1. `isWhole`: no body follows. A request that cannot be taken has a
 * refusal, and a head all the same, for the records.
 */
export function readHttp2Head(raw: readonly string[], isWhole: boolean, limits: SyntaxLimits): Http2Head {
  const fields = new Fields();
  for (let index = 0; index < raw.length; index += 2) fields.take(raw[index] as string, raw[index + 1] as string);
  const { pseudo } = fields;
  const method = pseudo.get(':method') ?? '';
  const uri = pseudo.get(':path') ?? '';
  const authority = fields.authority();
  const headers = authority === null ? fields.headers : ['host', authority, ...fields.headers];
  // The library reads bodies; how long one may be is told by the same check as for HTTP/1.1.
  const checked = checkRequestHead(method, uri, 'HTTP/1.1', headers, limits);
  const refusal =
    fields.refusal ??
    refusalOfRepeats(raw) ??
    refusalOfTarget(method, uri, pseudo) ??
    checked.refusal ??
    refusalOfBody(checked.framing, isWhole);
  const framing: Framing = refusal !== null || isWhole ? { kind: 'none' } : framingOf(headers, checked.framing);
  return { method, uri, headers, framing, refusal, isExpectant: fields.isExpectant };
}

function refusalOfTarget(method: string, uri: string, pseudo: ReadonlyMap<string, string>): Refusal | null {
  if (method === 'CONNECT') return null; // the common check has its answer
  const scheme = pseudo.get(':scheme')?.toLowerCase();
  if (scheme !== 'https' && scheme !== 'http') return bad('a scheme that is neither https nor http');
  return uri.startsWith('/') || uri === '*' ? null : bad('a :path that is no path');
}

function refusalOfBody(framing: Framing, isWhole: boolean): Refusal | null {
  return isWhole && framing.kind === 'length' ? bad('a Content-Length without a body') : null;
}

/** A body of unknown length goes on in chunks; one whose length is said to be 0 is none. */
function framingOf(headers: readonly string[], framing: Framing): Framing {
  if (framing.kind === 'length') return framing;
  const hasLength = headers.some((name, index) => index % 2 === 0 && name === 'content-length');
  return hasLength ? { kind: 'none' } : { kind: 'chunked' };
}
