// Requests that the application sends: whose address a value of the request decides.
import { channel } from 'node:diagnostics_channel';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { isInEnvironment, SeenTexts } from '../report/known.js';
import { report } from '../report/report.js';
import type { Value } from '../requests/values.js';
import { currentVisit, type Visit } from '../requests/visit.js';
import { guarded, sensorState } from '../state.js';

const metadata = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  'metadata.google.internal',
  'fd00:ec2::254',
]);

const isInner4 = (host: string): boolean => {
  const [a = 0, b = 0] = host.split('.').map(Number);
  if (a === 10 || a === 127 || a === 0) return true;
  return (
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 169 && b === 254) ||
    (a === 100 && b >= 64 && b < 128)
  );
};

/** A host that only those within reach: by its address, or by a name that leads nowhere from outside. */
function isInner(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  if (isIP(name) === 4) return isInner4(name);
  if (isIP(name) === 6) {
    const last = /^::ffff:(.+)$/.exec(name)?.[1];
    if (last !== undefined && isIP(last) === 4) return isInner4(last);
    return name === '::1' || name === '::' || /^f[cd]|^fe[89ab]|^::ffff:/.test(name);
  }
  return (
    name === 'localhost' ||
    metadata.has(name) ||
    /\.(?:localhost|internal|local|lan|corp|home\.arpa)$/.test(name) ||
    !name.includes('.')
  );
}

const parsed = (text: string): URL | null => {
  try {
    return new URL(text);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
};

/** Hosts that the program asked although no value of a request named them: it knows them by itself. */
const known = new SeenTexts();

/** whole: the value is the address, with its path · host: it is the host or a part of it, which may be chance. */
function decides(value: string, { host, hostname, origin, pathname }: URL): 'whole' | 'host' | null {
  const text = value.trim();
  const lower = text.toLowerCase();
  if (lower === hostname || lower === host || lower.startsWith(`${host}/`)) return 'host';
  const url = /^(?:https?:)?[\\/]{2}/i.test(text) ? parsed(text.replace(/^[\\/]{2}/, 'http://')) : null;
  // one whose path is not the one that is asked for is not what is asked for
  if (url !== null && url.host === host && url.pathname.length > 1)
    return `${origin}${pathname}`.startsWith(`${origin}${url.pathname}`) ? 'whole' : null;
  if (url !== null && url.host === host) return 'host';
  // `http://api.example${value}` with `@evil` or `.evil`
  const end = /^[@.]/.test(lower) ? (lower.slice(1).split(/[/?#]/, 1)[0] ?? '') : '';
  return end.length > 3 && (host === end || hostname === end || host.endsWith(`.${end}`)) ? 'host' : null;
}

const ofServer = new Set(['header host', 'header :authority', 'header origin', 'header referer']);

function look(visit: Visit, sink: string, address: string): void {
  const url = parsed(address);
  if (url === null) return;
  let by: ReturnType<typeof decides> = null;
  const value: Value | undefined = visit.values().find(({ name, text }) => {
    by = ofServer.has(name) ? null : decides(text, url);
    return by !== null;
  });
  if (value === undefined) return void known.hasSeen(url.host);
  if (isInEnvironment(url.host) || (by === 'host' && known.holds(url.host))) return;
  const isMetadata = metadata.has(url.hostname.replace(/^\[|\]$/g, ''));
  report(visit, {
    ...{ attack: isMetadata ? 'ssrf_metadata' : 'ssrf', sink, value, text: address, at: address.indexOf(value.text) },
    effect: `chooses the host ${isInner(url.hostname) ? 'within' : 'outside'} that the application sends a request to`,
    // hosts that the program itself names are allowed
    foreign: url.host,
    doubt: () => (isInner(url.hostname) ? null : 'the host is a public one, which the program may let users choose'),
  });
}

function lookNow(sink: string, address: () => string): void {
  const visit = sensorState.isOn ? currentVisit() : undefined;
  if (visit !== undefined) guarded(() => look(visit, sink, address()));
}

interface Outgoing {
  readonly protocol?: string;
  readonly path?: string;
  readonly host?: string;
  getHeader?: (name: string) => unknown;
}

function addressOf(request: Outgoing): string {
  const named = request.getHeader?.('host');
  const port = typeof named === 'string' ? (/:\d+$/.exec(named)?.[0] ?? '') : '';
  const host = request.host ?? '';
  return `${request.protocol ?? 'http:'}//${isIP(host) === 6 ? `[${host}]` : host}${port}${request.path ?? '/'}`;
}

/** What is sent is known when the request is made, and so is who makes it. */
function watchRequests(owner: object, sink: string): void {
  for (const name of ['request', 'get']) {
    const held = Object.getOwnPropertyDescriptor(owner, name);
    const original: unknown = held?.value;
    if (typeof original !== 'function') continue;
    const value = function requestLooked(this: unknown, ...given: unknown[]): unknown {
      const made: unknown = Reflect.apply(original, this, given);
      lookNow(`${sink}.${name}`, () => addressOf(made as Outgoing));
      return made;
    };
    Object.defineProperty(owner, name, { ...held, value });
  }
}

/** `request` and `get` of http and https, and `fetch` (undici), which says itself what it sends. */
export function watchOutgoing(): void {
  watchRequests(http, 'http');
  watchRequests(https, 'https');
  channel('undici:request:create').subscribe((message) => {
    const { request } = message as { readonly request: { readonly origin?: unknown; readonly path?: string } };
    lookNow('fetch', () => `${String(request.origin)}${request.path ?? '/'}`);
  });
}
