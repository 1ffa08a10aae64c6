// Applications that the cost of the sensor is measured in: `shop` is what applications do (a body that is parsed, a
// statement over the network, a file, an answer of some kilobytes), `bare` does nothing but answer.
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const [, , kind = 'shop', database = ''] = process.argv;
const load = createRequire(import.meta.url);
const readme = fileURLToPath(new URL('../../../README.md', import.meta.url));

interface Sql {
  unsafe(text: string, values: unknown[]): Promise<unknown[]>;
}
interface Web {
  readonly query: Readonly<Record<string, string>>;
  readonly body: { readonly items?: readonly { readonly name: string; readonly count: number }[] };
  readonly params: Readonly<Record<string, string>>;
}
interface Fastify {
  get(path: string, work: (request: Web) => Promise<unknown>): void;
  post(path: string, work: (request: Web) => Promise<unknown>): void;
  listen(options: object): Promise<string>;
}

/** User and system time of this process so far, in microseconds. */
const spent = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

async function shop(): Promise<number> {
  const app = (load('fastify') as () => Fastify)();
  const postgres = load('postgres') as (address: string, options: object) => Sql;
  const sql = postgres(database, { max: 1, prepare: false });
  const find = 'select id, name, price from items where name like $1 order by id limit 20';
  app.get('/cpu', async () => ({ spent: spent() }));
  app.get('/items', async ({ query }) => ({ items: await sql.unsafe(find, [`%${query['q'] ?? ''}%`]) }));
  app.get('/items/:id', async ({ params }) => sql.unsafe('select * from items where id = $1', [Number(params['id'])]));
  app.post('/orders', async ({ body }) => {
    const sum = (body.items ?? []).reduce((total, { count }) => total + count, 0);
    const rows = await sql.unsafe('select count(*)::int as n from items where price > $1', [sum]);
    return { sum, rows };
  });
  app.get('/about', async () => ({ text: await readFile(readme, 'utf8') }));
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
}

async function bare(): Promise<number> {
  const answer = JSON.stringify({ hello: 'world', items: Array.from({ length: 20 }, (_, id) => ({ id })) });
  const server = http.createServer((request, reply) => {
    reply.setHeader('content-type', 'application/json');
    reply.end(request.url === '/cpu' ? JSON.stringify({ spent: spent() }) : answer);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return (server.address() as { port: number }).port;
}

process.stdout.write(`${await (kind === 'bare' ? bare() : shop())}\n`);
process.stdin.resume().on('end', () => process.exit(0));
