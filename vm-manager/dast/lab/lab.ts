// An application with planted flaws, each beside a page that looks alike and is safe; with traps for crawlers, roles,
// and a record of every request, by which a scan is judged: what it found, and what it must never have asked.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { injectionPages } from './injection-pages.js';
import { escape, html, json, text, type Ask, type LabPage } from './page.js';
import { scriptingPages } from './scripting-pages.js';
import { sitePages } from './site-pages.js';
import { where, type LabRow } from './small-sql.js';
import { trapOf } from './traps.js';

export const labUser = { name: 'alice', password: 'Lab-Passw0rd-1' } as const;

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly atMs: number;
  readonly run: string;
  readonly viaWaf: boolean;
}

const pages: readonly LabPage[] = [...injectionPages, ...scriptingPages, ...sitePages];
const byPlace = new Map(pages.map((page) => [`${page.method ?? 'GET'} ${page.path}`, page]));

/** What a scan of everything has to find, as `check path parameter`. */
export const plantedFlaws: readonly string[] = [
  ...pages.flatMap(({ flaw, path }) => {
    if (flaw === undefined) return [];
    const [check = '', param = ''] = flaw.split(' ');
    const isOfSite = /^(?:exposed-file|backup-file|directory-listing)/.test(check);
    return [`${check} ${isOfSite ? '/' : path} ${param}`.trim()];
  }),
  'sql-injection-boolean /item/{} path2',
  'ssrf /fetch url',
  'graphql-introspection /',
  'trace-method /',
  'jwt-none /',
  'no-csp /',
  'no-nosniff /',
  'framable /',
  'cookie-httponly / pre_session',
  'cookie-samesite / pre_session',
  'version-banner /',
  'form-without-token /profile',
];

const key = 'the key of the lab';
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
export const tokenFor = (sub: string): string => {
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub })}`;
  return `${text}.${sign(text)}`;
};

/** Takes tokens that say that they have no signature: one of the flaws. */
function userOf({ headers }: IncomingMessage): string | null {
  const [head, claims, signature] = (/(?:^|; )session=([^;]+)/.exec(headers.cookie ?? '')?.[1] ?? '').split('.');
  if (head === undefined || claims === undefined) return null;
  try {
    const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { alg?: string };
    if (alg !== 'none' && signature !== sign(`${head}.${claims}`)) return null;
    return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub: string }).sub;
  } catch {
    return null;
  }
}

const link = ({ path, takes = {} }: LabPage): string => {
  const query = new URLSearchParams(takes).toString();
  return `<li><a href="${path}${query === '' ? '' : `?${escape(query)}`}">${path}</a></li>`;
};
const formFor = ({ path, takes = {} }: LabPage): string =>
  `<form method="post" action="${path}">${Object.entries(takes)
    .map(([name, value]) => `<input name="${name}" value="${value}">`)
    .join('')}<input type="hidden" name="csrf_token" value="t"><button>Send</button></form>`;

function home(other: string): string {
  const shown = pages.filter(({ isHidden, isApi }) => isHidden !== true && isApi === undefined);
  const links = shown.filter(({ method }) => method !== 'POST').map(link);
  const forms = shown.filter(({ method }) => method === 'POST').map(formFor);
  return (
    `<ul>${links.join('')}</ul>${forms.join('')}<a href="/item/3">three</a>` +
    '<a href="/fetch?url=http://lab.example/a">get</a>' +
    '<a href="/fetch-safe?url=http://lab.example/a">get</a><a href="/profile">profile</a><a href="/login">log in</a>' +
    '<a href="/logout">out</a><a href="/session/bye">Sign out</a><a href="/account/leave">leave</a>' +
    '<a href="/items/delete?id=1">x</a><a href="/private/a">private</a><a href="/priv%61te/b">private</a>' +
    '<a href="/calendar/2026/11">calendar</a><a href="/days?year=2026&month=11">days</a>' +
    '<a href="/blog/first-day">blog</a>' +
    `<a href="/s/0a1b2c3d4e5f/home">session</a><a href="/loop/a/">loop</a><a href="${other}/elsewhere">elsewhere</a>`
  );
}

function openApi(): object {
  const paths: Record<string, object> = {};
  for (const { path, method = 'GET', isApi, takes = {} } of pages.filter((one) => one.isApi !== undefined)) {
    const properties = Object.fromEntries(
      Object.entries(takes).map(([name, value]) => [
        name,
        /^\d+$/.test(value) ? { type: 'integer', example: Number(value) } : { type: 'string', example: value },
      ]),
    );
    const type = isApi === 'xml' ? 'application/xml' : 'application/json';
    const content = { [type]: { schema: { type: 'object', properties } } };
    paths[path] = {
      [method.toLowerCase()]: {
        ...(method === 'POST' ? { requestBody: { content } } : {}),
        security: path.includes('wages') ? [{ session: [] }] : [],
      },
    };
  }
  return { openapi: '3.0.3', info: { title: 'lab', version: '1' }, paths };
}

export class Lab {
  readonly seen: Seen[] = [];
  origin = '';
  readonly #server: Server;
  /** Another origin, which is out of scope. */
  readonly #other: string;
  /** Whose it is, as a file says. */
  verifyToken = '';
  /** Answers slower, to be stopped in the midst. */
  delayMs = 0;
  /** Answers everything with this status; null: it does not. */
  refuses: number | null = null;

  constructor(other = 'http://127.0.0.1:9') {
    this.#other = other;
    this.#server = createServer((request, reply) => {
      this.#serve(request, reply).catch((error: unknown) => {
        if (!reply.headersSent) html(reply, '<p>Something went wrong.</p>', 500);
        else reply.destroy(error as Error);
      });
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    const run = String(request.headers['x-scan-run'] ?? '');
    const viaWaf = request.headers['x-via-waf'] !== undefined;
    this.seen.push({ method: request.method ?? '', path: request.url ?? '', atMs: performance.now(), run, viaWaf });
    reply.setHeader('server', 'Lab/1.4.2');
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (this.delayMs > 0) await new Promise((done) => setTimeout(done, this.delayMs));
    if (this.refuses !== null) return html(reply, '<p>Not now.</p>', this.refuses);
    const fields = new URLSearchParams(/urlencoded/.test(request.headers['content-type'] ?? '') ? body : '');
    const ask: Ask = {
      request,
      reply,
      url,
      body,
      user: userOf(request),
      value: (name) => (fields.get(name) ?? url.searchParams.get(name) ?? '').slice(0, 2000),
    };
    const page = byPlace.get(`${request.method} ${url.pathname}`);
    if (page !== undefined) return void (await page.answer(ask));
    if (this.#house(ask) || trapOf(ask)) return;
    if (!(await this.#further(ask))) html(reply, '<p>There is no such page.</p>', 404);
  }

  /** Home, login and what ends a session. */
  #house({ reply, request, url, value, user }: Ask): boolean {
    const place = `${request.method} ${url.pathname}`;
    if (place === 'GET /') html(reply, home(this.#other));
    else if (place === 'GET /login')
      html(
        reply,
        '<form method="post" action="/login"><input name="username"><input type="password" name="password"></form>',
        200,
        { 'set-cookie': 'pre_session=1; Path=/' },
      );
    else if (place === 'POST /login') {
      const isRight = value('username') === labUser.name && value('password') === labUser.password;
      const cookie = `session=${tokenFor(labUser.name)}; HttpOnly; SameSite=Lax; Path=/`;
      if (isRight) reply.writeHead(303, { location: '/account', 'set-cookie': cookie }).end();
      else html(reply, '<p>Wrong name or password.</p>', 401);
    } else if (['/logout', '/session/bye', '/account/leave'].includes(url.pathname))
      html(reply, '<p>Until then.</p>', 200, { 'set-cookie': 'session=; Max-Age=0; Path=/' });
    else if (place === 'GET /profile' || place === 'GET /profile-safe')
      html(
        reply,
        `<form method="post" action="${url.pathname}"><input name="motto" value="on">` +
          `${place.endsWith('safe') ? '<input type="hidden" name="csrf" value="1">' : ''}</form>`,
      );
    else if (place.startsWith('POST /profile')) html(reply, user === null ? '<p>No.</p>' : '<p>Kept.</p>');
    else if (place === 'GET /.well-known/gatehouse-scan.txt') text(reply, this.verifyToken);
    else if (place === 'GET /openapi.json') json(reply, openApi());
    else if (place === 'GET /robots.txt')
      text(reply, `User-agent: *\nDisallow: /private/\nSitemap: ${this.origin}/sitemap.xml\n`);
    else if (place === 'GET /sitemap.xml')
      text(reply, `<urlset><url><loc>${this.origin}/profile-safe</loc></url></urlset>`);
    else return false;
    return true;
  }

  async #further({ reply, request, url, value, body }: Ask): Promise<boolean> {
    const item = /^\/item(-safe)?\/([^/]+)$/.exec(url.pathname);
    if (item !== null) {
      let rows: readonly LabRow[] = [];
      try {
        rows = where(`id = ${decodeURIComponent(item[2] ?? '')}`);
      } catch {
        // nothing is found then
      }
      html(reply, rows.length === 0 ? '<p>None.</p>' : `<p>${escape(String(rows[0]?.['name']))}</p>`, 200);
    } else if (url.pathname === '/fetch') {
      const there = await fetch(value('url'), { signal: AbortSignal.timeout(2000) }).catch(() => null);
      html(reply, `<p>It answers ${there?.status ?? 'nothing'}.</p>`);
    } else if (url.pathname === '/fetch-safe') html(reply, '<p>Only from the list.</p>', 400);
    else if (request.method === 'POST' && url.pathname === '/graphql')
      json(
        reply,
        body.includes('__schema') ? { data: { __schema: { queryType: { name: 'Query' } } } } : { errors: [] },
      );
    else if (request.method === 'TRACE')
      text(
        reply,
        Object.entries(request.headers)
          .map(([name, one]) => `${name}: ${String(one)}`)
          .join('\n'),
      );
    else return false;
    return true;
  }
}
