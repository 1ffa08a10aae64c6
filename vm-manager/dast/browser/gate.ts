// Where every request of the browser ends up: judged as one of the crawl, and sent, if at all, by the same client,
// with its scope, methods, budget, rate, stop and the header with the run's id. The browser gets the answer from here.
import { isHarmful } from '../http/bounds.js';
import type { Talk } from '../http/talk.js';
import { scanMethods, type Exchange, type ScanMethod, type ScanRequest } from '../model.js';
import type { Fields } from './cdp.js';
import { formOfSent, isHarmfulOperation, writesInGraphql } from './sent.js';

export const gateLimits = {
  /** Requests of the browser in a whole scan, beside a quarter of what the scan may ask. */
  requests: 1500,
  /** Requests of one shape that are sent. */
  ofOneShape: 6,
  cachedBytes: 32 * 1024 * 1024,
  bodyBytes: 256 * 1024,
  /** Of each kind that one page may leave: scripts can ask without end. */
  metOfPage: 500,
  urlLength: 8000,
} as const;

export interface Paused {
  readonly requestId: string;
  readonly frameId: string;
  readonly resourceType: string;
  readonly request: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly postData?: string;
    readonly hasPostData?: boolean;
  };
}

/** What the browser is told: the parameters of Fetch.fulfillRequest, or why there is no answer. */
export type Verdict = { readonly fulfil: Fields } | { readonly fail: 'BlockedByClient' | 'Aborted' | 'Failed' };

/** A request that a script of the page has made. */
export interface Sent {
  readonly request: ScanRequest;
  /** null: it was not sent, or not answered. */
  readonly exchange: Exchange | null;
}

/** What is met while one page is open. */
export interface Met {
  readonly links: Set<string>;
  readonly sent: Sent[];
  readonly leftOut: Map<string, string>;
}

const kept = /^(?:accept|content-type|authorization|origin|referer|x-[\w-]{1,60}|apollo[\w-]{1,40})$/i;
const notHandedOn = /^(?:content-encoding|content-length|transfer-encoding|connection|set-cookie|keep-alive)$/i;
/** Nothing of these shows where an application leads. */
const unseen: ReadonlySet<string> = new Set(
  'Image Font Media TextTrack Manifest Ping CSPViolationReport Prefetch EventSource SignedExchange Other'.split(' '),
);
const blocked: Verdict = { fail: 'BlockedByClient' };

/** The parameters of Fetch.fulfillRequest, without the request's id. */
export function fulfilment({ status, headers, cookies, body }: Exchange): Verdict {
  const lines = Object.entries(headers)
    .filter(([name]) => !notHandedOn.test(name))
    .map(([name, value]) => ({ name, value }));
  for (const cookie of cookies) lines.push({ name: 'set-cookie', value: cookie });
  // texts were read as UTF-8, whatever they say of themselves
  for (const line of lines)
    if (/^content-type$/i.test(line.name)) line.value = line.value.replace(/;\s*charset=[^;]*/i, '; charset=utf-8');
  const safeStatus = status >= 200 && status <= 599 ? status : 502;
  return {
    fulfil: { responseCode: safeStatus, responseHeaders: lines, body: Buffer.from(body, 'utf8').toString('base64') },
  };
}

function leaveOut({ leftOut }: Met, what: string, why: string): void {
  if (leftOut.size < gateLimits.metOfPage) leftOut.set(what, why);
}

function note({ sent }: Met, request: ScanRequest, exchange: Exchange | null): void {
  if (sent.length < gateLimits.metOfPage) sent.push({ request, exchange });
}

export class Gate {
  readonly talk: Talk;
  asked = 0;
  readonly #requestsMax: number;
  readonly #withWrites: boolean;
  readonly #shapes = new Map<string, number>();
  readonly #cache = new Map<string, Exchange>();
  #cachedBytes = 0;

  /** `withWrites`: scripts may send more than GETs, as the checks of the profile do with forms. */
  constructor(talk: Talk, requestsMax: number, withWrites: boolean) {
    this.talk = talk;
    this.#requestsMax = Math.min(gateLimits.requests, Math.floor(requestsMax / 4));
    this.#withWrites = withWrites;
  }

  /** What a GET of this address was answered, where the browser has asked for it. */
  cached(url: string): Exchange | null {
    return this.#cache.get(`GET ${url} `) ?? null;
  }

  get isUsedUp(): boolean {
    return this.asked >= this.#requestsMax;
  }

  /** Answers for the page `main`, whose own document is known already. Throws ScanOver. */
  async answer(paused: Paused, main: Exchange, mainFrame: string, isLoaded: boolean, met: Met): Promise<Verdict> {
    const { resourceType, request, frameId } = paused;
    const url = request.url.split('#', 1)[0] ?? request.url;
    const isMain = resourceType === 'Document' && frameId === mainFrame;
    if (isMain && !isLoaded) return fulfilment(main);
    if (unseen.has(resourceType)) return blocked;
    if (resourceType === 'Stylesheet') return fulfilment({ ...main, status: 200, headers: {}, cookies: [], body: '' });
    if (url.length > gateLimits.urlLength) return blocked;
    if (isMain && request.method === 'GET') {
      if (met.links.size < gateLimits.metOfPage) met.links.add(request.url.slice(0, gateLimits.urlLength));
      return { fail: 'Aborted' };
    }
    const method = scanMethods.find((one) => one === request.method);
    const refusal = method === undefined ? 'method' : this.talk.client.judge(url, method);
    if (method === undefined || refusal !== null) {
      // what lies elsewhere is no part of the target, and pages name a lot of it
      leaveOut(met, `${request.method} ${url}`, (refusal ?? 'method').replaceAll('_', ' '));
      return blocked;
    }
    const body = request.postData ?? null;
    if (body !== null && body.length > gateLimits.bodyBytes) {
      leaveOut(met, `${method} ${url}`, 'sends more than a scan looks at');
      return blocked;
    }
    if (isHarmfulRequest(url, method, body)) {
      leaveOut(met, `${method} ${url}`, 'would log out or destroy something');
      return blocked;
    }
    if (body === null && request.hasPostData === true) {
      leaveOut(met, `${method} ${url}`, 'sends a file');
      return blocked;
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) =>
        kept.test(name) ? [[name.toLowerCase(), value]] : [],
      ),
    );
    const wanted: ScanRequest = { method, url, headers, body };
    if (isMain) {
      note(met, wanted, null);
      return { fail: 'Aborted' };
    }
    return this.#send(wanted, resourceType, met);
  }

  async #send(wanted: ScanRequest, resourceType: string, met: Met): Promise<Verdict> {
    const { url, method, body } = wanted;
    const isCode = resourceType === 'Script';
    const known = this.#cache.get(`${method} ${url} ${body ?? ''}`);
    if (known !== undefined) {
      if (!isCode) note(met, wanted, known);
      return fulfilment(known);
    }
    const form = formOfSent(wanted);
    const count = this.#shapes.get(form.key) ?? 0;
    const isWrite = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
    const mayGo = !this.isUsedUp && count < gateLimits.ofOneShape && (!isWrite || this.#withWrites);
    if (!mayGo) {
      if (!isCode) note(met, wanted, null);
      return blocked;
    }
    this.#shapes.set(form.key, count + 1);
    this.asked++;
    const exchange = await this.talk.ask(wanted);
    if (!isCode) note(met, wanted, exchange);
    if (exchange === null) return { fail: 'Failed' };
    if (!isWrite) this.#keep(`${method} ${url} ${body ?? ''}`, exchange);
    return fulfilment(exchange);
  }

  #keep(name: string, exchange: Exchange): void {
    if (this.#cachedBytes + exchange.body.length > gateLimits.cachedBytes) return;
    this.#cachedBytes += exchange.body.length;
    this.#cache.set(name, exchange);
  }
}

/** By its address, and by the operation that a GraphQL request names. */
function isHarmfulRequest(url: string, method: ScanMethod, body: string | null): boolean {
  const { pathname, search } = new URL(url);
  return (
    isHarmful(pathname + search) ||
    (method === 'POST' && body !== null && writesInGraphql(body).some(isHarmfulOperation))
  );
}
