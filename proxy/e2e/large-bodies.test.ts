// Bodies that are expensive on purpose, with the real rules: each gets the verdict of the limit it breaks, in bounded
// time, inspected off the I/O thread, and others are served meanwhile. Times here are bounds against standing still on
// a machine that is slow and busy; how little others notice is measured by bench/cases/hostile.ts.
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import t from 'tap';
import type { DataPlaneOptions } from '../main/data-plane.js';
import { configOf, listenerKinds, metricsWith, startBackend, startPlane, testMsMax } from './harness.js';
import { realArtifact, realEngine, withoutRules } from './real-rules.js';

const slowestMs = 120_000; // of a heavy request
const slowestOtherMs = 30_000; // of a small one meanwhile

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly tookMs: number;
}

function send(port: number, method: string, path: string, type: string, body: Buffer): Promise<Answer> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        agent: false,
        method,
        path,
        headers: {
          'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0',
          accept: '*/*',
          ...(body.length === 0 ? {} : { 'content-type': type, 'content-length': body.length }),
        },
      },
      (reply) => {
        let text = '';
        reply.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
        reply.on('end', () =>
          resolve({ status: reply.statusCode ?? 0, body: text, tookMs: performance.now() - startedMs }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const manyKeys = Buffer.from(`{${Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join(',')}}`);
const deep = Buffer.from(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`);
const deepArray = Buffer.from('['.repeat(10_000) + ']'.repeat(10_000));
const file = Buffer.alloc(10 * 1024 * 1024, 'All work and no play makes a long file. ');
const upload = Buffer.concat([
  Buffer.from(
    '--b0und\r\nContent-Disposition: form-data; name="photo"; filename="photo.png"\r\nContent-Type: image/png\r\n\r\n',
  ),
  file,
  Buffer.from('\r\n--b0und--\r\n'),
]);
const attack = Buffer.from(
  `{"note":"${'an ordinary note. '.repeat(3000)}","q":"1' UNION SELECT password FROM users--"}`,
);
const field = Buffer.from(`note=${'an+ordinary+note+'.repeat(20_000)}`);

interface Heavy {
  readonly name: string;
  readonly type: string;
  readonly body: Buffer;
  readonly status: number;
}
const heavy: readonly Heavy[] = [
  { name: '100,000 keys: more arguments than are inspected', type: 'application/json', body: manyKeys, status: 400 },
  { name: '10,000 objects deep: deeper than is parsed', type: 'application/json', body: deep, status: 400 },
  { name: '10,000 arrays deep, in 20 kB', type: 'application/json', body: deepArray, status: 400 },
  { name: 'an upload of 10 MiB', type: 'multipart/form-data; boundary=b0und', body: upload, status: 200 },
  { name: 'an attack behind 54 kB of text', type: 'application/json', body: attack, status: 403 },
  { name: 'a long text in a form', type: 'application/x-www-form-urlencoded', body: field, status: 200 },
  {
    name: 'more than is read at all',
    type: 'application/octet-stream',
    body: Buffer.alloc(14 * 1024 * 1024),
    status: 413,
  },
];

t.setTimeout(testMsMax);
t.test('heavy bodies', { skip: withoutRules }, async (t) => {
  const artifact = await realArtifact({ mode: 'On', paranoia_level: 1 });
  for (const kind of listenerKinds) {
    await t.test(kind, async (t) => {
      const backend = await startBackend(t, (incoming, response) => {
        const sum = createHash('sha256');
        incoming.on('data', (chunk: Buffer) => sum.update(chunk));
        incoming.on('end', () => response.end(sum.digest('hex')));
      });
      const config = configOf({
        sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
        timeouts: { drain_ms: 500 },
      });
      const plane = await startPlane(t, kind, {}, realEngine(artifact, config) as Partial<DataPlaneOptions>);
      let isOver = false;
      const small = (async (): Promise<number[]> => {
        const times: number[] = [];
        while (!isOver) {
          const { status, tookMs } = await send(
            plane.ports.http,
            'GET',
            `/products?page=${times.length}`,
            '',
            Buffer.alloc(0),
          );
          if (status !== 200) t.fail(`a small request got ${status}`);
          times.push(tookMs);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return times.sort((a, b) => a - b);
      })();
      // One after the other: an inspection has 30 s from the moment it is asked for, on a thread that yields to
      // everybody.
      const answers: { readonly one: Heavy; readonly answer: Answer }[] = [];
      for (const one of heavy)
        answers.push({
          one,
          answer: await send(plane.ports.http, 'POST', '/api/notes', one.type, one.body).catch((error: Error) => ({
            status: 0,
            body: error.message,
            tookMs: 0,
          })),
        });
      isOver = true;
      const times = await small;
      for (const { one, answer } of answers) {
        // Refused by its announced length while it was still being sent: a client may see the reset before the answer.
        if (one.status === 413 && answer.status === 0)
          t.match(answer.body, /EPIPE|ECONNRESET|socket hang up/, `${one.name}: refused early`);
        else t.equal(answer.status, one.status, `${one.name}: ${answer.status} after ${Math.round(answer.tookMs)} ms`);
        t.ok(answer.tookMs < slowestMs, `${one.name}: in bounded time`);
        if (answer.status === 200)
          t.equal(
            answer.body,
            createHash('sha256').update(one.body).digest('hex'),
            `${one.name}: arrives as it was sent`,
          );
      }
      const { inlineInspectionBytesMax } = config.limits;
      const large = heavy.filter(({ status, body }) => status !== 413 && body.length > inlineInspectionBytesMax);
      const offloaded = `waap_inspections_offloaded_total ${large.length}\n`;
      t.match(
        await metricsWith(plane, offloaded),
        offloaded,
        'each body over the threshold was inspected off the I/O thread',
      );
      t.ok(
        (times.at(-1) ?? Infinity) < slowestOtherMs,
        `${times.length} small requests meanwhile, median ${times[times.length >> 1]?.toFixed(1)} ms, ` +
          `slowest ${times.at(-1)?.toFixed(1)} ms`,
      );
    });
  }
});
