// A second application with planted flaws, unlike the first: a single-page application over a JSON interface that no
// document names, GraphQL, a shop in the manner of PHP, uploads of files. Each flaw has a twin that is safe.
import { buildSchema, graphql } from 'graphql';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from '../page.js';
import { bundle, panel, shell } from './app.js';
import type { Berth, Deck } from './deck.js';
import { restPaths, restPlaces } from './rest.js';
import { page, shopPlaces, uploadPlaces } from './shop.js';
import { Store } from './store.js';
import { runHeader } from '../../http/polite-client.js';

/** What a scan has to find, as `check path parameter`; those of the whole site stand at `/`. */
export const harbourFlaws: readonly string[] = [
  'sql-injection-error /rest/books genre',
  'sql-injection-boolean /rest/book/{} path3',
  'sql-injection-boolean /rest/search filter.term',
  'sql-injection-boolean /rest/auth/signin login',
  'nosql-injection /rest/accounts/lookup nick',
  'ssrf /rest/preview address',
  'template-injection /rest/render layout',
  'code-injection /rest/calc formula',
  'command-injection /rest/tools/reach box',
  'path-traversal /rest/export sheet',
  'cors /rest/me',
  'stack-trace-on-error /rest/orders',
  'xss-stored /rest/wall note',
  'xss-dom /search',
  'xss-dom /panel',
  'sql-injection-error /graphql book.isbn',
  'graphql-introspection /',
  'sql-injection-error /laden/artikel.php art',
  'sql-injection-error /laden/liste.php ordnung',
  'xss-reflected /laden/suche.php wort',
  'xss-reflected /laden/sprache.php l',
  'xss-reflected /laden/bewertung.php meinung',
  'open-redirect /laden/weiter.php ziel',
  'path-traversal /laden/seite.php name',
  'sql-injection-time /laden/brief.php adresse',
  'host-header /laden/vergessen.php',
  'xxe /laden/einlesen.php',
  'upload-served /laden/bild.php',
  'access-bypass /intern/zahlen',
  ...['bewertung', 'bild', 'einlesen', 'brief', 'brief2'].map((one) => `form-without-token /laden/${one}.php`),
  'backup-file /',
  'exposed-file:/.env.production /',
  'exposed-file:/db.sql /',
  'exposed-file:/info.php /',
  'directory-listing /',
  'secret-in-answer /assets/keys.js',
  'jwt-weak-key /',
  'cookie-httponly / PHPSESSID',
  'cookie-samesite / PHPSESSID',
  'no-csp /',
  'no-nosniff /',
  'framable /',
  'version-banner /',
];

const schema = buildSchema(`
  type Book { title: String, price: Int }
  type Query { book(isbn: String!): Book, volume(isbn: String!): Book, count: Int }
  type Mutation { deleteBook(isbn: String!): Boolean }
`);

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token whose key is a word that everyone tries. */
export const harbourToken = ((): string => {
  const claims = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: 'mara' })}`;
  return `${claims}.${createHmac('sha256', 'secret').update(claims).digest('base64url')}`;
})();

const shopMenu = [
  'artikel.php?art=978-1 artikel2.php?art=978-1 liste.php?ordnung=title liste2.php?ordnung=titel suche.php?wort=boot',
  'suche2.php?wort=boot sprache.php?l=de sprache2.php?l=de bewertung.php bewertung2.php weiter.php?ziel=/laden/',
  'weiter2.php?ziel=laden seite.php?name=kontakt seite2.php?name=kontakt brief.php brief2.php vergessen.php',
  'vergessen2.php einlesen.php bild.php konfiguration.php',
]
  .join(' ')
  .split(' ');

const routes: ReadonlySet<string> = new Set(['/', '/books', '/lookup', '/workshop', '/desk', '/search', '/twins']);

const sitePlaces: Deck = {
  'GET /assets/harbour.js': ({ reply }) => {
    reply.writeHead(200, { 'content-type': 'text/javascript' }).end(bundle);
  },
  'GET /assets/keys.js': ({ reply }) => {
    const [kind, tail] = ['sk_' + 'live', '4eC39HqLyjWDarjtT1zdp7dc'];
    reply.writeHead(200, { 'content-type': 'text/javascript' }).end(`window.shopKey = '${kind}_${tail}';`);
  },
  'GET /panel': ({ reply }) => void reply.writeHead(200, { 'content-type': 'text/html' }).end(panel('innerHTML')),
  'GET /panel-twin': ({ reply }) =>
    void reply.writeHead(200, { 'content-type': 'text/html' }).end(panel('textContent')),
  'GET /panel-data/ships': ({ reply }) => json(reply, { ships: [] }),
  'GET /panel-data/crew': ({ reply }) => json(reply, { crew: [] }),
  'GET /wall': (berth) =>
    page(
      berth,
      `<h1>Wall</h1>${berth.wall
        .slice(-20)
        .map((one) => `<p>${one}</p>`)
        .join('')}`,
    ),
  'GET /laden/': (berth) =>
    page(
      berth,
      `${shopMenu.map((one) => `<a href="/laden/${one}">${one}</a>`).join(' ')} <a href="/panel">Panel</a>` +
        '<a href="/panel-twin">Panel</a> <a href="/wall">Wall</a> <a href="/intern/zahlen">Zahlen</a>' +
        '<a href="/intern/lager">Lager</a> <a href="/laden/abmelden.php">Abmelden</a>' +
        '<a href="/kalender?monat=1">Kalender</a><script src="/assets/keys.js"></script>',
      200,
      { 'set-cookie': 'PHPSESSID=a1b2c3d4; Path=/' },
    ),
  'GET /laden/abmelden.php': ({ reply, harm }) => {
    harm.push('logged out');
    text(reply, 'bye');
  },
  'GET /kalender': (berth) => {
    const month = Number.parseInt(berth.value('monat'), 10) || 0;
    page(berth, `<a href="/kalender?monat=${month + 1}">weiter</a><a href="/kalender?monat=${month - 1}">davor</a>`);
  },
  'GET /intern/zahlen': (berth) => {
    const from = String(berth.request.headers['x-forwarded-for'] ?? '');
    if (from === '127.0.0.1') page(berth, '<p>Umsatz: 812</p>');
    else page(berth, '<p>Nein</p>', 403);
  },
  'GET /intern/lager': (berth) => page(berth, '<p>Nein</p>', 403),
  'GET /rest/account': ({ reply, request }) => {
    const [claims, sign] = splitToken(/token=([\w.-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
    const right = createHmac('sha256', 'secret').update(claims).digest('base64url');
    if (sign === right) json(reply, { user: 'mara of the harbour' });
    else json(reply, { error: 'who?' }, 401);
  },
};

function splitToken(token: string): [string, string] {
  const at = token.lastIndexOf('.');
  return [token.slice(0, at), token.slice(at + 1)];
}

const places: ReadonlyMap<string, Deck[string]> = new Map(
  [restPlaces, shopPlaces, uploadPlaces, sitePlaces].flatMap((deck) => Object.entries(deck)),
);

export interface HarbourAsked {
  readonly method: string;
  readonly path: string;
  readonly run: string;
}

export class Harbour {
  readonly asked: HarbourAsked[] = [];
  readonly harm: string[] = [];
  origin = '';
  verifyToken = '';
  readonly #store = new Store();
  readonly #wall: string[] = [];
  readonly #uploads: Berth['uploads'] = new Map();
  readonly #server: Server = createServer((request, reply) => {
    this.#serve(request, reply).catch(() => reply.destroy());
  });

  async start(port = 0): Promise<this> {
    await this.#store.fill();
    await new Promise<void>((done) => this.#server.listen(port, '127.0.0.1', done));
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
    await this.#store.close();
  }

  async #serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    const run = String(request.headers[runHeader] ?? '');
    this.asked.push({ method: request.method ?? '', path: request.url ?? '', run });
    reply.setHeader('x-powered-by', 'PHP/7.4.3');
    let body = '';
    for await (const chunk of request) body += (chunk as Buffer).toString('latin1');
    body = Buffer.from(body, 'latin1').toString('utf8');
    const fields = new URLSearchParams(/urlencoded/.test(request.headers['content-type'] ?? '') ? body : '');
    const berth: Berth = {
      ...{ request, reply, url, store: this.#store, wall: this.#wall, uploads: this.#uploads, harm: this.harm },
      value: (name) => (fields.get(name) ?? url.searchParams.get(name) ?? '').slice(0, 2000),
      sent: objectIn(body),
    };
    const name = `${request.method} ${url.pathname}`;
    const place = places.get(name) ?? restPaths.find(([form]) => form.test(name))?.[1];
    if (place !== undefined) return void (await place(berth, body));
    if (name === 'POST /graphql') return this.#graphql(berth);
    const file = /^\/bilder\/([\w.-]+)$/.exec(url.pathname)?.[1];
    const upload = file === undefined ? undefined : this.#uploads.get(file);
    if (upload !== undefined) return void reply.writeHead(200, { 'content-type': upload.type }).end(upload.text);
    if (name === 'GET /.well-known/gatehouse-scan.txt') return text(reply, this.verifyToken);
    if (request.method === 'GET' && routes.has(url.pathname)) {
      const link = url.pathname === '/' ? '<noscript><a href="/laden/">Laden</a></noscript>' : '';
      return void reply.writeHead(200, { 'content-type': 'text/html' }).end(shell.replace('</body>', `${link}</body>`));
    }
    json(reply, { error: 'There is no such place.' }, 404);
  }

  async #graphql({ reply, sent }: Berth): Promise<void> {
    const answer = await graphql({
      schema,
      source: typeof sent['query'] === 'string' ? sent['query'] : '',
      variableValues: (sent['variables'] ?? {}) as Record<string, unknown>,
      rootValue: {
        book: async ({ isbn }: { isbn: string }) =>
          (await this.#store.run(`select title, price from books where isbn = '${isbn}'`))[0] ?? null,
        volume: async ({ isbn }: { isbn: string }) =>
          (await this.#store.ask('select title, price from books where isbn = $1', [isbn]))[0] ?? null,
        count: () => 4,
        deleteBook: () => {
          this.harm.push('deleted');
          return true;
        },
      },
    });
    json(reply, answer);
  }
}

function objectIn(body: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(body) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
