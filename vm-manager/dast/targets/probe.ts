// One look at a target: what its address answers to one GET, by which certificate, and what it seems to be made of.
import { ApiError, Nullable, Time } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { json } from '../../database.js';
import type { WayOut } from '../../host.js';
import { endpoint, type Endpoint } from '../../kit/endpoint.js';
import { maskSecrets } from '../../secrets/mask.js';
import { isInWindow, judgeOf } from '../http/bounds.js';
import { runHeader, scanAgent } from '../http/polite-client.js';
import { rateOf } from '../http/pace.js';
import { boundsOf } from '../run/run-scan.js';
import { readSwitch } from '../run/store.js';
import { requireTarget } from './endpoints.js';

const timeoutMs = 10_000;
const dayMs = 86_400_000;
const shownHeaders: ReadonlySet<string> = new Set([
  ...['server', 'via', 'location', 'content-type', 'x-powered-by', 'x-generator', 'www-authenticate', 'cache-control'],
  ...['strict-transport-security', 'content-security-policy', 'x-frame-options', 'x-content-type-options'],
  ...['referrer-policy', 'permissions-policy'],
]);

/** Signs in headers, cookies and pages → what it is made of. */
const signs: readonly (readonly [RegExp, string])[] = [
  [/^set-cookie: PHPSESSID=|^x-powered-by: PHP/im, 'PHP'],
  [/^set-cookie: JSESSIONID=/im, 'Java'],
  [/^set-cookie: ASP\.NET_SessionId=|^x-(?:powered-by|aspnet-version): ?(?:ASP\.NET|\d)/im, 'ASP.NET'],
  [/^set-cookie: connect\.sid=|^x-powered-by: Express/im, 'Express'],
  [/^set-cookie: laravel_session=/im, 'Laravel'],
  [/^set-cookie: csrftoken=/im, 'Django'],
  [/^set-cookie: _\w+_session=/im, 'Rails'],
  [/wp-content\/|wp-includes\//i, 'WordPress'],
  [/<meta name=["']generator["'] content=["']Drupal/i, 'Drupal'],
  [/\bng-version=/i, 'Angular'],
  [/__NEXT_DATA__/, 'Next.js'],
  [/^server: nginx/im, 'nginx'],
  [/^server: apache/im, 'Apache HTTP Server'],
  [/^server: (?:microsoft-)?iis/im, 'IIS'],
];

/** null: it is not HTTPS, or it showed no certificate; where one could not be read, `tls_unread` says why. */
const Tls = Type.Object({
  protocol: Type.String(),
  subject: Type.String(),
  issuer: Type.String(),
  names: Type.Array(Type.String()),
  not_after: Type.String(),
  days_left: Type.Integer(),
});

const ProbeView = Type.Object({
  target_id: Type.String(),
  at: Time,
  url: Type.String(),
  status: Type.Integer(),
  ms: Type.Integer(),
  title: Nullable(Type.String()),
  headers: Type.Record(Type.String(), Type.String()),
  technologies: Type.Array(Type.String()),
  tls: Nullable(Tls),
  tls_unread: Nullable(Type.String({ description: 'why the certificate could not be read; null: it was, or is none' })),
});

interface Certificate {
  readonly tls: Static<typeof Tls> | null;
  readonly tls_unread: string | null;
}
const unread = (why: string): Certificate => ({ tls: null, tls_unread: why.slice(0, 300) });

/** What the target shows on a connection of its own, since the answer to the GET says nothing of it. */
async function certificateOf(way: WayOut, url: URL, now: Date): Promise<Certificate> {
  if (url.protocol !== 'https:') return { tls: null, tls_unread: null };
  if (way.connect === undefined) return unread('This server makes no such connections.');
  const port = Number(url.port === '' ? 443 : url.port);
  try {
    const socket = await way.connect({ transport: 'tls', host: url.hostname, port, timeoutMs });
    return readCertificate(socket as TLSSocket, now);
  } catch (error) {
    if (error instanceof Error) return unread(`The connection was not made: ${error.message}`);
    throw error;
  }
}

/** Ends the connection. A certificate without fields is none: TLS knows ways to connect without one. */
export function readCertificate(
  socket: Pick<TLSSocket, 'getPeerCertificate' | 'getProtocol' | 'destroy'>,
  now: Date,
): Certificate {
  const shown: Partial<PeerCertificate> = socket.getPeerCertificate();
  const protocol = socket.getProtocol() ?? '';
  socket.destroy();
  if (Object.keys(shown).length === 0) return { tls: null, tls_unread: null };
  const { subject, issuer, subjectaltname = '', valid_to: until = '' } = shown;
  const ends = new Date(until);
  if (Number.isNaN(ends.getTime())) return unread(`Its end is no moment: ${until}`);
  const tls = viewCertificate(protocol, { subject, issuer, subjectaltname, ends }, now);
  return { tls, tls_unread: null };
}

interface Shown {
  readonly subject: PeerCertificate['subject'] | undefined;
  readonly issuer: PeerCertificate['issuer'] | undefined;
  readonly subjectaltname: string;
  readonly ends: Date;
}

function viewCertificate(protocol: string, { subject, issuer, subjectaltname, ends }: Shown, now: Date) {
  return {
    ...{ protocol, subject: String(subject?.CN ?? ''), issuer: String(issuer?.CN ?? issuer?.O ?? '') },
    names: subjectaltname
      .split(', ')
      .map((name) => name.replace(/^DNS:/, ''))
      .slice(0, 100),
    not_after: ends.toISOString(),
    days_left: Math.floor((ends.getTime() - now.getTime()) / dayMs),
  };
}

export const probeEndpoint: Endpoint = endpoint({
  method: 'POST',
  path: '/targets/:id/probe',
  permission: 'run_scans',
  kind: 'B',
  summary: 'Ask the address of a target once: status, certificate, headers, what it is made of; the answer is kept',
  answer: ProbeView,
  handle: async (call) => {
    const { host, sql, now } = call;
    const target = await requireTarget(sql, call.reach, call.params['id'] ?? '');
    const way = host.wayOut;
    if (way === undefined) throw new ApiError('not_ready', 'This server sends nothing to other systems.');
    const halt = await readSwitch(sql);
    if (halt.halted) throw new ApiError('conflict', `Scans are stopped by ${halt.changed_by}: ${halt.reason}.`);
    const bounds = boundsOf(target);
    const refusal = judgeOf(bounds)(target.url, 'GET');
    if (refusal !== null) throw new ApiError('conflict', `Its address is not asked: ${refusal.replaceAll('_', ' ')}.`);
    if (!isInWindow(bounds.windows, now))
      throw new ApiError('conflict', 'The target may not be scanned at this time: see its scan_windows.');
    const url = new URL(target.url);
    await rateOf(url.origin).turn(bounds.perSecond, AbortSignal.timeout(timeoutMs));
    const began = performance.now();
    const headers = { 'user-agent': scanAgent(way), [runHeader]: `probe-${target.id}` };
    const reply = await way
      .send(target.url, { headers, timeoutMs, bytesMax: 256 * 1024, keepsRedirects: true })
      .catch((error: unknown) => {
        if (error instanceof ApiError) throw new ApiError('conflict', `The target gave no answer: ${error.message}`);
        throw error;
      });
    const body = reply.body.toString('utf8');
    const lines = [
      ...Object.entries(reply.headers).map(([name, value]) => `${name}: ${value}`),
      ...(reply.cookies ?? []).map((cookie) => `set-cookie: ${cookie}`),
    ].join('\n');
    const probe = {
      ...{ url: target.url, status: reply.status, ms: Math.round(performance.now() - began) },
      title: maskSecrets(/<title[^<>]{0,200}>([^<]{1,200})/i.exec(body)?.[1]?.trim() ?? '') || null,
      headers: Object.fromEntries(
        Object.entries(reply.headers)
          .filter(([name]) => shownHeaders.has(name))
          .map(([name, value]) => [name, maskSecrets(value.slice(0, 500))]),
      ),
      technologies: [...new Set(signs.filter(([sign]) => sign.test(`${lines}\n${body}`)).map(([, name]) => name))],
      ...(await certificateOf(way, url, now)),
    };
    await call.audited('vm.update', `probed the target ${target.id}`, async (tx) => {
      await tx`update vm_targets set probe = ${json(tx, probe)}, probed_at = ${now} where id = ${target.id}`;
    });
    return { target_id: String(target.id), at: now.toISOString(), ...probe };
  },
});
