// The one way out. Feeds, key sets, OIDC, breach checks and webhooks go through `send`: names are resolved first and
// the connection goes to the very address that was checked (no second lookup that could answer differently), redirects
// are followed on the same origin only, and size and time are capped.
import { lookup as resolve } from 'node:dns/promises';
import type { Socket as DatagramSocket } from 'node:dgram';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Agent, request, type Dispatcher } from 'undici';
import { ApiError } from '../http-kit/index.js';
import { createAllowList, refusalOf, type AllowList } from './allow-list.js';
import { openDatagrams, openStream, type DatagramTarget, type StreamTarget } from './streams.js';

export interface OutboundRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'HEAD' | 'OPTIONS' | 'DELETE' | 'TRACE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly bytesMax?: number;
  readonly timeoutMs?: number;
  readonly redirectsMax?: number;
  /** Redirects are answers: none is followed, and none is refused. */
  readonly keepsRedirects?: boolean;
  /** Ends the call at once. */
  readonly signal?: AbortSignal;
}

export interface OutboundReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** One for each Set-Cookie: joined they could not be separated. */
  readonly cookies: readonly string[];
  readonly body: Buffer;
  /** Where the answer came from after redirects. */
  readonly url: string;
}

export interface Outbound {
  /** How calls introduce themselves: a token of RFC 9110. */
  readonly agent: string;
  /**
   * Throws ApiError `outbound_refused` (the target is not allowed) or `outbound_failed` (it did not answer properly).
   */
  send(url: string, options?: OutboundRequest): Promise<OutboundReply>;
  /** Judges the target as `send` does and throws as it does; nobody is asked but the resolver. */
  check(url: string): Promise<void>;
  /** `fetch` for libraries that want one; the same guard. */
  readonly fetch: (
    url: string,
    init?: { method?: string; headers?: Record<string, string>; body?: unknown },
  ) => Promise<Response>;
  /** An open connection for what is not HTTP; the same guard, and the same errors. */
  connect(target: StreamTarget): Promise<Socket>;
  /** A connected datagram socket; the same guard. */
  datagrams(target: DatagramTarget): Promise<DatagramSocket>;
  /** True when the operator allow-listed the host: only then may plain http carry credentials. */
  isAllowListed(url: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface OutboundOptions {
  readonly allow: readonly string[];
  /** The name of the installation, by which it introduces itself (`User-Agent`). */
  readonly name?: string;
  readonly bytesMax?: number;
  readonly timeoutMs?: number;
  /** For tests: name → addresses. */
  readonly resolveHost?: (host: string) => Promise<readonly { address: string; family: number }[]>;
}

const bytesMaxDefault = 16 * 1024 * 1024;
const timeoutMsDefault = 10_000;

/** A name as a token; characters that none has become hyphens. */
function agentOf(name: string): string {
  const token = name.replaceAll(/[^\w.]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return token === '' ? 'client' : token.slice(0, 60);
}

function openAgent(lookup: ReturnType<typeof guardedLookup>): Agent {
  return new Agent({
    connect: { lookup, timeout: 5000 },
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
    maxHeaderSize: 32_768,
    pipelining: 0,
    keepAliveTimeout: 1,
  });
}

export function createOutbound(options: OutboundOptions): Outbound {
  const allow = createAllowList(options.allow);
  const resolveHost = options.resolveHost ?? ((host: string) => resolve(host, { all: true, verbatim: true }));
  const agent = openAgent(guardedLookup(allow, resolveHost));
  const name = agentOf(options.name ?? 'Gatehouse');
  const named = (call: OutboundRequest) => ({ ...call, headers: { 'user-agent': name, ...call.headers } });
  const send = async (given: string, call: OutboundRequest = {}): Promise<OutboundReply> => {
    let url = parseTarget(given);
    const timeout = AbortSignal.timeout(call.timeoutMs ?? options.timeoutMs ?? timeoutMsDefault);
    const signal = call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal]);
    for (let redirects = 0; ; redirects++) {
      await inTime(checkTarget(url, allow, resolveHost), signal, url.host);
      const bytesMax = call.bytesMax ?? options.bytesMax ?? bytesMaxDefault;
      const reply = await exchange(agent, url, named(call), signal, bytesMax);
      const location = reply.headers['location'];
      const isRedirect =
        [301, 302, 303, 307, 308].includes(reply.status) && location !== undefined && (call.method ?? 'GET') === 'GET';
      if (!isRedirect || call.keepsRedirects === true) return reply;
      if (redirects >= (call.redirectsMax ?? 3))
        throw new ApiError('outbound_failed', `${url.host} redirects too often.`);
      const next = parseTarget(new URL(location, url).href);
      if (next.host !== url.host || (url.protocol === 'https:' && next.protocol !== 'https:'))
        throw new ApiError(
          'outbound_refused',
          `${url.host} redirects to another place (${next.protocol}//${next.host}). ` +
            'Configure that address directly if you trust it.',
        );
      url = next;
    }
  };
  const judge = (host: string) => admissibleAddresses(host.replace(/^\[|\]$/g, ''), allow, resolveHost);
  return {
    send,
    agent: name,
    async check(given) {
      const url = parseTarget(given);
      const signal = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
      await inTime(checkTarget(url, allow, resolveHost), signal, url.host);
    },
    connect: (target) => openStream(target, judge),
    datagrams: (target) => openDatagrams(target, judge),
    async fetch(url, init = {}) {
      const body = init.body instanceof URLSearchParams ? init.body.toString() : (init.body ?? undefined);
      if (body !== undefined && typeof body !== 'string') throw new TypeError('the guarded client sends text only');
      const reply = await send(url, {
        method: (init.method ?? 'GET') as 'GET',
        headers: init.headers ?? {},
        redirectsMax: 0,
        ...(body === undefined ? {} : { body }),
      });
      const empty = reply.status === 204 || reply.status === 304;
      return new Response(empty ? null : new Uint8Array(reply.body), {
        status: reply.status,
        headers: { ...reply.headers },
      });
    },
    async isAllowListed(text) {
      const url = parseTarget(text);
      if (allow.hasHost(url.hostname)) return true;
      const bare = url.hostname.replace(/^\[|\]$/g, '');
      const addresses = isIP(bare) === 0 ? await resolveHost(bare) : [{ address: bare }];
      return addresses.length > 0 && addresses.every(({ address }) => allow.hasAddress(address));
    },
    close: () => agent.close(),
  };
}

/** What a connection asks for the address of a name: the answer is judged before anybody connects to it. */
function guardedLookup(allow: AllowList, resolveHost: Resolver): LookupFunction {
  return (host, lookupOptions, done) => {
    admissibleAddresses(host, allow, resolveHost).then(
      (addresses) => {
        const [first] = addresses;
        if (lookupOptions.all === true) (done as unknown as (error: null, all: unknown) => void)(null, addresses);
        else if (first !== undefined) done(null, first.address, first.family);
      },
      (error: unknown) => done(error as NodeJS.ErrnoException, '', 0),
    );
  };
}

function parseTarget(text: string): URL {
  if (!URL.canParse(text)) throw new ApiError('outbound_refused', 'The target is not a URL.');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ApiError('outbound_refused', `${url.protocol} is not http or https.`);
  if (url.username !== '' || url.password !== '')
    throw new ApiError('outbound_refused', 'Credentials in a URL end up in logs; leave them out.');
  return url;
}

type Resolver = NonNullable<OutboundOptions['resolveHost']>;

/** Node asks `lookup` for names only; a literal address in the URL has to be judged here. */
async function checkTarget(url: URL, allow: AllowList, resolveHost: Resolver): Promise<void> {
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  await admissibleAddresses(bare, allow, resolveHost);
}

/** Every address of the host, all of them allowed; one inner address among public ones condemns the name. */
async function admissibleAddresses(
  host: string,
  allow: AllowList,
  resolveHost: Resolver,
): Promise<{ address: string; family: number }[]> {
  let addresses: readonly { address: string; family: number }[];
  try {
    addresses = isIP(host) === 0 ? await resolveHost(host) : [{ address: host, family: isIP(host) }];
  } catch (cause) {
    throw new ApiError('outbound_failed', `The name ${host} cannot be resolved.`, { cause });
  }
  if (addresses.length === 0) throw new ApiError('outbound_failed', `The name ${host} has no address.`);
  if (allow.hasHost(host)) return [...addresses];
  for (const { address } of addresses) {
    const refusal = refusalOf(address);
    if (refusal !== null && !allow.hasAddress(address))
      throw new ApiError(
        'outbound_refused',
        `${host} leads to ${address} (${refusal}). Add it to OUTBOUND_ALLOW if that is intended.`,
      );
  }
  return [...addresses];
}

/**
 * A resolver cannot be told to stop, and the system's may take half a minute where nobody answers it: it is left
 * behind.
 */
async function inTime(check: Promise<void>, signal: AbortSignal, host: string): Promise<void> {
  let late = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    late = () => reject(new ApiError('outbound_failed', `The name ${host} was not resolved in time.`));
    signal.addEventListener('abort', late);
  });
  try {
    await Promise.race([check, over]);
  } finally {
    signal.removeEventListener('abort', late);
  }
}

async function exchange(
  agent: Agent,
  url: URL,
  call: OutboundRequest,
  signal: AbortSignal,
  bytesMax: number,
): Promise<OutboundReply> {
  let response: Dispatcher.ResponseData;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    response = await request(url, {
      dispatcher: agent,
      method: call.method ?? 'GET',
      headers: { 'accept-encoding': 'identity', ...call.headers },
      body: call.body ?? null,
      signal,
    });
    for await (const chunk of response.body) {
      bytes += (chunk as Buffer).length;
      if (bytes > bytesMax) {
        response.body.destroy();
        throw new ApiError('outbound_failed', `${url.host} sent more than ${bytesMax} bytes.`);
      }
      chunks.push(chunk as Buffer);
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    const reason = signal.aborted
      ? 'did not answer in time'
      : `could not be asked (${cause instanceof Error ? cause.message : String(cause)})`;
    throw new ApiError('outbound_failed', `${url.host} ${reason}.`, { cause });
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  const body = await decoded(Buffer.concat(chunks), headers['content-encoding'], url, bytesMax);
  const setCookie = response.headers['set-cookie'] ?? [];
  const cookies = Array.isArray(setCookie) ? setCookie : [setCookie];
  return { status: response.statusCode, headers, cookies, body, url: url.href };
}

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** None is asked for, and stores of objects and gateways use one all the same. Bounded like what came. */
async function decoded(body: Buffer, given: string | undefined, url: URL, bytesMax: number): Promise<Buffer> {
  const coding = (given ?? '').trim().toLowerCase();
  if (body.length === 0 || coding === '' || coding === 'identity') return body;
  if (!Object.hasOwn(decoders, coding))
    throw new ApiError(
      'outbound_failed',
      `${url.host} answered in the coding ${coding.slice(0, 40)}, which is not read.`,
    );
  try {
    return await decoders[coding as keyof typeof decoders](body, { maxOutputLength: bytesMax });
  } catch (cause) {
    const isLarge = (cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
    const reason = isLarge ? `sent more than ${bytesMax} bytes` : `says ${coding}, and its body is none`;
    throw new ApiError('outbound_failed', `${url.host} ${reason}.`, { cause });
  }
}
