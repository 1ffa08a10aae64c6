// The dashboard's server: the bundle, and everything below /api/ forwarded to the control plane, so that a browser
// knows one origin only. It holds no state and no secret: the session is the control plane's HttpOnly cookie, which
// goes through as it is, and so do the control plane's refusals (its check against cross-site requests included).
import replyFrom from '@fastify/reply-from';
import staticFiles from '@fastify/static';
import Fastify, { type FastifyInstance, type FastifyListenOptions, type FastifyReply } from 'fastify';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBrandSource, type BrandSource } from './brand-source.js';
import { colourOf, coloursOf, type Branding } from './branding.js';
import { closeGently } from './closing.js';
import { privateHeaders, securityHeaders } from './security-headers.js';
import { trustedProxies as trustOf } from './trusted-proxies.js';

export { colourOf, coloursOf, contrast, readLogo, type Branding } from './branding.js';

export interface ConsoleServerOptions {
  readonly branding: Branding;
  /** Where the bundle lies. */
  readonly webDirectory: string;
  /** The control plane, such as http://127.0.0.1:8095. */
  readonly apiUrl: string;
  /** By which the control plane knows it (CONSOLE_TOKEN); empty: it believes no word of whom this speaks for. */
  readonly token: string;
  /** Addresses, networks and names whose X-Forwarded-For and -Proto are believed; absent: nobody's. */
  readonly trustedProxies?: readonly string[];
  readonly host: string;
  /** 0 = any. */
  readonly port: number;
  /** Number of a socket that listens there already; null or absent: it opens its own. */
  readonly socket?: number | null;
}

export interface RunningConsole {
  readonly url: string;
  close(): Promise<void>;
}

/** As large as the largest body of the control plane (imports, a specification): it decides what it takes. */
const bodyBytesMax = 64 * 1024 * 1024;
const hashedAssets = /\/assets\//;
/** Of an answer's begin; event streams go on for hours. */
const apiTimeoutMs = 150_000;

export async function startConsole(options: ConsoleServerOptions): Promise<RunningConsole> {
  const { webDirectory, apiUrl, token, host, port, socket = null, branding, trustedProxies = [] } = options;
  if (!existsSync(join(webDirectory, 'index.html')))
    throw new Error('The console is not built: run `node bin/build.mjs console`.');
  const trust = trustOf(trustedProxies);
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    return503OnClosing: false,
    exposeHeadRoutes: true,
    trustProxy: trustedProxies.length === 0 ? false : (address) => trust.trusts(address),
  });
  const close = closeGently(app);
  app.addHook('onClose', () => Promise.resolve(trust.close()));
  app.addHook('onSend', async (request, reply) => {
    if (!request.url.startsWith('/api/')) reply.headers(securityHeaders);
    if (/^\/shared(?:[/?#]|$)/.test(request.url)) reply.headers(privateHeaders);
  });
  await forwardApi(app, apiUrl, token);
  const brand = createBrandSource(apiUrl, branding);
  const page = readFileSync(join(webDirectory, 'index.html'), 'utf8');
  serveBranding(app, brand);
  await servePages(app, webDirectory, async () => pageOf(page, await brand.current()));
  // what Fastify does not know it hands on to node:net
  const place: FastifyListenOptions & { fd?: number } = { host, port };
  if (socket !== null) place.fd = socket;
  const url = await app.listen(place);
  return { url, close };
}

async function forwardApi(app: FastifyInstance, apiUrl: string, token: string): Promise<void> {
  await app.register(replyFrom, {
    base: apiUrl,
    undici: { connections: 64, pipelining: 1, headersTimeout: apiTimeoutMs, bodyTimeout: 0 },
    disableRequestLogging: true,
  });
  // bodies go through as bytes: what a body means is the control plane's affair
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.all('/api/*', (request, reply) =>
    reply.from(request.url, {
      rewriteRequestHeaders: (_, headers) => ({
        ...headers,
        'x-gatehouse-console': token,
        'x-forwarded-for': request.ip,
        'x-forwarded-host': request.host,
        'x-forwarded-proto': request.protocol,
      }),
      onError: (answer) => void unavailable(answer as unknown as FastifyReply),
    }),
  );
}

function unavailable(reply: FastifyReply): FastifyReply {
  return reply.code(502).header('content-type', 'application/problem+json').send({
    type: 'about:blank',
    title: 'The control plane does not answer',
    status: 502,
    detail: 'The control plane does not answer. It may be starting; protection goes on without it.',
    code: 'control_plane_unreachable',
  });
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? '');

/** The one page that there is, with the installation's name in it. */
function pageOf(page: string, branding: Branding): string {
  const { brand, brandSub, tagline, logo = null, accent = null } = branding;
  const texts = { brand, brandSub, tagline, logo: logo === null ? '' : logoPath };
  const named = page.replace(/\{\{(brand|brandSub|tagline|logo)\}\}/g, (_, name: keyof typeof texts) =>
    escaped(texts[name]),
  );
  const icon = logo === null ? named : named.replace(/(<link rel="icon" href=")[^>]*>/, `$1${logoPath}" />`);
  // behind the styles of the bundle, which it overrides
  const sheet = `<link rel="stylesheet" href="${coloursPath}" />\n</head>`;
  return accent === null ? icon : icon.replace('</head>', sheet);
}

const logoPath = '/brand/logo';
const coloursPath = '/brand/colours.css';

function serveBranding(app: FastifyInstance, brand: BrandSource): void {
  const nothing = (reply: FastifyReply): FastifyReply =>
    reply.code(404).type('text/plain').send('There is nothing here.\n');
  app.get(logoPath, async (_request, reply) => {
    const logo = await brand.logo();
    if (logo === null) return nothing(reply);
    return reply.header('cache-control', 'no-cache').type(logo.type).send(logo.bytes);
  });
  app.get(coloursPath, async (_request, reply) => {
    const { accent = null } = await brand.current();
    const colour = accent === null ? null : colourOf(accent);
    if (colour === null) return nothing(reply);
    return reply.header('cache-control', 'no-cache').type('text/css; charset=utf-8').send(coloursOf(colour));
  });
}

async function servePages(app: FastifyInstance, webDirectory: string, page: () => Promise<string>): Promise<void> {
  const sendPage = async (reply: FastifyReply): Promise<FastifyReply> =>
    reply
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(await page());
  for (const path of ['/', '/index.html']) app.get(path, (_request, reply) => sendPage(reply));
  await app.register(staticFiles, {
    root: webDirectory,
    preCompressed: true,
    cacheControl: false,
    index: false,
    setHeaders: (reply, path) => {
      const caching = hashedAssets.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache';
      reply.header('cache-control', caching);
    },
  });
  // pages have addresses of their own, which the bundle reads; a file that is missing is 404, not a page
  app.setNotFoundHandler(async (request, reply) => {
    const { pathname } = new URL(request.url, 'http://console');
    const isPage = ['GET', 'HEAD'].includes(request.method) && !/\.[a-z0-9]+$/i.test(pathname);
    if (isPage && !pathname.startsWith('/api/')) return sendPage(reply);
    return reply.code(404).type('text/plain').send('There is nothing here.\n');
  });
}
