// Bodies made to be expensive, one after another, while ordinary requests go on over other connections of the same
// worker: how long each takes, what is answered, and what the others notice (their p99 with and without).
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.js';
import { quantile } from '../statistics.js';
import { startBackend, startGatehouse } from '../systems.js';

interface Body {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

function manyKeys(): Buffer {
  const parts: string[] = [];
  for (let index = 0; index < 100_000; index++) parts.push(`"k${index.toString(36)}":1`);
  return Buffer.from(`{${parts.join(',')}}`);
}
function upload(bytes: number): Buffer {
  const head =
    '--bench-part\r\nContent-Disposition: form-data; name="photo"; filename="harbour.jpg"\r\n' +
    'Content-Type: image/jpeg\r\n\r\n';
  const noise = Buffer.alloc(bytes);
  for (let index = 0, state = 1; index < bytes; index++)
    noise[index] = (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 24;
  return Buffer.concat([Buffer.from(head, 'latin1'), noise, Buffer.from('\r\n--bench-part--\r\n', 'latin1')]);
}
function bodies(): Body[] {
  return [
    { name: 'JSON, 100,000 keys', type: 'application/json', bytes: manyKeys() },
    { name: 'upload, 10 MB', type: 'multipart/form-data; boundary=bench-part', bytes: upload(10_000_000) },
    {
      name: 'JSON, 10,000 deep',
      type: 'application/json',
      bytes: Buffer.from('['.repeat(10_000) + ']'.repeat(10_000)),
    },
  ];
}

function post(port: number, path: string, type: string, bytes: Buffer, agent?: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': type,
      'content-length': bytes.length,
      accept: '*/*',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0',
    };
    const sent = request(
      { host: '127.0.0.1', port, method: 'POST', path, headers, ...(agent === undefined ? {} : { agent }) },
      (reply) => {
        reply.resume();
        reply.once('end', () => resolve(reply.statusCode ?? 0));
      },
    );
    let status: number | null = null;
    sent.on('response', (reply) => (status = reply.statusCode ?? 0));
    // A refusal may cut the upload short: the answer counts, the reset after it does not.
    sent.once('error', (error) => (status === null ? reject(error) : resolve(status)));
    sent.setTimeout(120_000, () => sent.destroy(new Error('no answer in 120 s')));
    sent.end(bytes);
  });
}

/** Ordinary requests over 8 connections, about 400 a second, until told to stop; their latencies in ms. */
async function others(port: number, isOver: () => boolean): Promise<number[]> {
  const latencies: number[] = [];
  const body = Buffer.from('note=good+morning&page=3');
  const client = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isOver()) {
      const startedMs = performance.now();
      await post(port, '/api/notes', 'application/x-www-form-urlencoded', body, agent);
      latencies.push(performance.now() - startedMs);
      await pause(20);
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return latencies;
}

export async function hostileCase(context: BenchContext): Promise<void> {
  const { root, rules, options, recorder } = context;
  const backend = await startBackend(root);
  const system = await startGatehouse({
    root,
    backendPort: backend.port,
    paranoia: 1,
    workers: 1,
    rules,
    listener: options.listener,
  });
  try {
    let isOver = false;
    const calm = others(system.port, () => isOver);
    await pause(options.short ? 1500 : 4000);
    isOver = true;
    recorder.add("hostile / nothing hostile / others' p99", 'ms', 'lower', quantile(await calm, 0.99));
    for (const { name, type, bytes } of bodies()) {
      context.progress(`hostile: ${name}`);
      let isDone = false;
      const beside = others(system.port, () => isDone);
      await pause(300);
      for (let index = 0; index < (options.short ? 2 : 5); index++) {
        const startedMs = performance.now();
        try {
          const status = await post(system.port, '/upload', type, bytes);
          recorder.add(`hostile / ${name} / status`, 'status', 'none', status);
        } catch (error) {
          recorder.note(`hostile: ${name}: ${error instanceof Error ? error.message : String(error)}`);
        }
        recorder.add(`hostile / ${name} / time`, 'ms', 'lower', performance.now() - startedMs);
      }
      await pause(300);
      isDone = true;
      recorder.add(`hostile / ${name} / others' p99`, 'ms', 'lower', quantile(await beside, 0.99));
    }
  } finally {
    await system.stop();
    await backend.stop();
  }
}
