// What the sensor costs an application: two processes of it, one with the sensor, asked in turn the same requests.
// Processor time of the application alone, as it says itself; the ratio of each round is of neighbours in time.
// `node build/bench/sensor-cost/run.js [--rounds 15] [--requests 1500] [--node PATH] [--kind shop] [--register FILE]`
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { spawn } from 'node:child_process';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { summarize } from '../statistics.js';

const { values: asked } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    requests: { type: 'string', default: '1500' },
    node: { type: 'string', default: process.execPath },
    kind: { type: 'string', default: 'shop,bare' },
    // another program in the place of the sensor: what a part of it costs
    register: { type: 'string' },
  },
});
const place = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const connections = 8;

interface App {
  readonly port: number;
  close(): void;
}

async function start(kind: string, database: string, control: string | null): Promise<App> {
  const sensor = control === null ? [] : ['--import', asked.register ?? place('../../sensor-package/register.mjs')];
  const child = spawn(asked.node, [...sensor, place('./app.js'), kind, database], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'] ?? '',
      ...(control === null ? {} : { GATEHOUSE_SENSOR_URL: control, GATEHOUSE_SENSOR_KEY: 'gs_bench' }),
      ...{ GATEHOUSE_SENSOR_APPLICATION: '1', GATEHOUSE_SENSOR_NAME: 'bench', GATEHOUSE_SENSOR_TOKEN: 'apt_bench' },
    },
  });
  const line = await new Promise<string>((done, refuse) => {
    child.stdout.once('data', (text: Buffer) => done(text.toString()));
    child.once('exit', (code) => refuse(new Error(`the application ended with ${code}`)));
  });
  return { port: Number(line), close: () => child.stdin.end() };
}

const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
const order = JSON.stringify({ items: Array.from({ length: 20 }, (_, at) => ({ name: `item ${at}`, count: at })) });

/** The requests of an application: searches, objects, orders with a body, a file. */
function requestOf(index: number): http.RequestOptions & { readonly body?: string } {
  const turn = index % 10;
  if (turn < 4) return { path: `/items?q=name${index % 97}&page=${turn}` };
  if (turn < 7) return { path: `/items/${index % 500}`, headers: { cookie: `sid=abcdef${index % 31}; theme=dark` } };
  if (turn < 9)
    return {
      ...{ path: '/orders', method: 'POST', body: order },
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(order) },
    };
  return { path: '/about' };
}

const ask = (port: number, index: number): Promise<string> =>
  new Promise((done, refuse) => {
    const { body, ...options } = index < 0 ? { path: '/cpu' } : requestOf(index);
    const request = http.request({ ...options, agent, port, host: '127.0.0.1' }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (part: string) => (text += part));
      reply.on('end', () => (reply.statusCode === 200 ? done(text) : refuse(new Error(text))));
    });
    request.on('error', refuse).end(body);
  });

const spentBy = async (port: number): Promise<number> => (JSON.parse(await ask(port, -1)) as { spent: number }).spent;

/** Microseconds of the application for `count` requests. */
async function load(port: number, count: number): Promise<number> {
  const before = await spentBy(port);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await ask(port, next++);
  };
  await Promise.all(Array.from({ length: connections }, work));
  return (await spentBy(port)) - before;
}

async function measure(kind: string, database: string, control: string): Promise<void> {
  const [rounds, requests] = [Number(asked.rounds), Number(asked.requests)];
  const without = await start(kind, database, null);
  const within = await start(kind, database, control);
  for (const app of [without, within, without, within]) await load(app.port, requests * 2); // compiled by then
  const ratios: number[] = [];
  const micros = { without: [] as number[], within: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const isFirst = round % 2 === 0;
    const first = await load(isFirst ? without.port : within.port, requests);
    const second = await load(isFirst ? within.port : without.port, requests);
    const [plain, sensed] = isFirst ? [first, second] : [second, first];
    ratios.push(sensed / plain);
    micros.without.push(plain / requests);
    micros.within.push(sensed / requests);
  }
  for (const app of [without, within]) app.close();
  const ratio = summarize(ratios);
  const [plain, sensed] = [summarize(micros.without).median, summarize(micros.within).median];
  process.stdout.write(
    `${kind}: without ${plain.toFixed(0)} µs, with ${sensed.toFixed(0)} µs a request; ` +
      `ratio ${ratio.median.toFixed(4)} (median of ${rounds} rounds, ` +
      `${ratio.min.toFixed(3)} to ${ratio.max.toFixed(3)})\n`,
  );
}

const database = await PGlite.create();
await database.exec(`create table items (id int, name text, price int);
  insert into items select n, 'name' || n, n from generate_series(1, 1000) n`);
const sockets = new PGLiteSocketServer({ db: database, port: 0, host: '127.0.0.1', maxConnections: 8 });
await sockets.start();
const control = http
  .createServer((request, reply) => {
    request.resume();
    reply.end('{"enabled": true}');
  })
  .listen(0, '127.0.0.1');
await new Promise((done) => control.once('listening', done));
const address = `postgres://postgres@${sockets.getServerConn()}/postgres`;
for (const kind of asked.kind.split(','))
  await measure(kind, address, `http://127.0.0.1:${(control.address() as { port: number }).port}`);
process.exit(0);
