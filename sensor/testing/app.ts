// The application of flows.ts on a server of choice: `app.js http|fastify|koa|express [directory with the package]`.
// Writes its port, and ends when its standard input does.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { flows, type Surroundings } from './flows.js';

const [, , kind = 'http', packages = import.meta.url, calcFile = ''] = process.argv;
const load = createRequire(packages === '-' ? import.meta.url : packages);

interface Asked {
  readonly flow: string;
  readonly twin: string;
  readonly value: string;
}

async function answer({ flow, twin, value }: Asked, at: Surroundings): Promise<string> {
  const work = flows[flow]?.[twin === 'safe' ? 'safe' : 'unsafe'];
  if (work === undefined) return 'no flow';
  try {
    await work(value, at);
    return 'done';
  } catch (error) {
    return `refused: ${error instanceof Error ? error.message : String(error)}`;
  }
}

type Values = Readonly<Record<string, unknown>>;
interface Parts {
  readonly query: Values;
  readonly body: Values;
  readonly headers: Values;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** One way for all servers: the value stands in one place. */
function valueOf({ query, body, headers }: Parts, last: string): string {
  const cookie = /(?:^|;\s*)value=([^;]*)/.exec(asText(headers['cookie']))?.[1];
  const found = query['value'] ?? body['value'] ?? headers['x-value'] ?? (cookie && decodeURIComponent(cookie)) ?? last;
  return asText(found);
}

const textOf = (request: http.IncomingMessage): Promise<string> =>
  new Promise((done) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => (text += part));
    request.on('end', () => done(text));
  });

async function plainParts(request: http.IncomingMessage): Promise<{ parts: Parts; path: string[] }> {
  const url = new URL(request.url ?? '/', 'http://x');
  const text = await textOf(request);
  const isForm = request.headers['content-type']?.includes('urlencoded') === true;
  const parsed = (): Values => (isForm ? Object.fromEntries(new URLSearchParams(text)) : (JSON.parse(text) as Values));
  const body = text === '' ? {} : parsed();
  const path = url.pathname.split('/').slice(1).map(decodeURIComponent);
  return { parts: { query: Object.fromEntries(url.searchParams), body, headers: request.headers }, path };
}

/** Anything that listens; the servers of packages are typed as far as they are used. */
type Listener = http.RequestListener;
interface KoaContext {
  readonly req: http.IncomingMessage;
  body: unknown;
}
interface KoaApp {
  use(work: (context: KoaContext) => Promise<void>): void;
  callback(): Listener;
}
interface WebRequest {
  readonly query: Values;
  readonly body?: Values | null;
  readonly headers: Values;
  readonly params: Readonly<Record<string, string | undefined>>;
}
interface FastifyApp {
  addContentTypeParser(
    type: string,
    options: object,
    work: (request: unknown, body: string, done: (error: null, value: Values) => void) => void,
  ): void;
  all(path: string, work: (request: WebRequest) => Promise<string>): void;
  listen(options: object): Promise<string>;
}
interface ExpressApp {
  (request: http.IncomingMessage, reply: http.ServerResponse): void;
  use(work: unknown): void;
  all(path: string, work: (request: WebRequest, reply: { send(text: string): void }) => Promise<void>): void;
}

const webAnswer = ({ query, body, headers, params }: WebRequest, at: Surroundings): Promise<string> => {
  const { flow = '', twin = '', value = '' } = params;
  return answer({ flow, twin, value: valueOf({ query, body: body ?? {}, headers }, value) }, at);
};

async function listening(listener: Listener): Promise<number> {
  const server = http.createServer(listener).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return (server.address() as { port: number }).port;
}

const servers: Readonly<Record<string, (at: Surroundings) => Promise<number>>> = {
  http: (at) =>
    listening((request, reply) => {
      void plainParts(request).then(async ({ parts, path: [flow = '', twin = '', last = ''] }) => {
        reply.end(await answer({ flow, twin, value: valueOf(parts, last) }, at));
      });
    }),
  koa: (at) => {
    const app = new (load('koa') as new () => KoaApp)();
    app.use(async (context) => {
      const {
        parts,
        path: [flow = '', twin = '', last = ''],
      } = await plainParts(context.req);
      context.body = await answer({ flow, twin, value: valueOf(parts, last) }, at);
    });
    return listening(app.callback());
  },
  fastify: async (at) => {
    const app = (load('fastify') as () => FastifyApp)();
    app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, Object.fromEntries(new URLSearchParams(body))),
    );
    for (const path of ['/:flow/:twin', '/:flow/:twin/:value']) app.all(path, (request) => webAnswer(request, at));
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
  },
  express: (at) => {
    const express = load('express') as (() => ExpressApp) & { json(): unknown; urlencoded(options: object): unknown };
    const app = express();
    app.use(express.json());
    app.use(express.urlencoded({ extended: true }));
    for (const path of ['/:flow/:twin', '/:flow/:twin/:value'])
      app.all(path, async (request, reply) => reply.send(await webAnswer(request, at)));
    return listening(app);
  },
};

interface Database {
  query(text: string, values?: unknown[]): Promise<unknown>;
  exec(text: string): Promise<unknown>;
}

const directory = mkdtempSync(join(tmpdir(), 'gatehouse-sensor-app-'));
mkdirSync(join(directory, 'public/user'), { recursive: true });
for (const file of ['public/a.txt', 'public/user/b.txt', 'secret.txt']) writeFileSync(join(directory, file), 'x');
const { PGlite } = createRequire(import.meta.url)('@electric-sql/pglite') as {
  readonly PGlite: { create(): Promise<Database> };
};
const database = await PGlite.create();
await database.exec('create table items (id int generated always as identity, name text)');
const inner = await listening((request, reply) => reply.end(request.url));
const calc = createRequire(import.meta.url)(
  calcFile || fileURLToPath(new URL('../../../sensor/testing/calc.cjs', import.meta.url)),
);
const at: Surroundings = {
  sql: (text, values) => database.query(text, values),
  script: (text) => database.exec(text),
  ...{ directory, inner: `127.0.0.1:${inner}`, calc: calc as Surroundings['calc'] },
};
const port = await servers[kind]?.(at);
process.stdout.write(`${JSON.stringify({ port, inner: at.inner, directory, pid: process.pid })}\n`);
process.stdin.resume().on('end', () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
