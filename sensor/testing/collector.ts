// A stand-in for the control plane: takes batches and signs of life, checks their signatures, and keeps what came.
import { createHmac } from 'node:crypto';
import http from 'node:http';
import type { SensorEvent } from '../report/report.js';

export const key = 'gs_test-key';

export interface Collector {
  readonly url: string;
  readonly events: SensorEvent[];
  readonly beats: Record<string, unknown>[];
  /** What did not fit: a signature that is wrong, a batch that is too large. */
  readonly wrong: string[];
  isEnabled: boolean;
  /** What is answered instead, where it is set. */
  status: number | null;
  close(): void;
}

const textOf = async (request: http.IncomingMessage): Promise<string> => {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part as string;
  return text;
};

function checkSignature(headers: http.IncomingHttpHeaders, text: string): string | null {
  const seconds = String(headers['x-sensor-timestamp']);
  const wanted = `sha256=${createHmac('sha256', key).update(`${seconds}.`).update(text).digest('hex')}`;
  if (Math.abs(Number(seconds) * 1000 - Date.now()) > 300_000) return 'another moment';
  return headers['x-sensor-signature'] === wanted ? null : 'a wrong signature';
}

export async function startCollector(): Promise<Collector> {
  const state: Omit<Collector, 'url' | 'close'> = { events: [], beats: [], wrong: [], isEnabled: true, status: null };
  const server = http.createServer((request, reply) => {
    void textOf(request).then((text) => {
      const problem = checkSignature(request.headers, text);
      if (problem !== null) state.wrong.push(problem);
      if (text.length > 1_048_576) state.wrong.push('a batch that is too large');
      if (state.status !== null) return reply.writeHead(state.status).end();
      const body = JSON.parse(text) as Record<string, unknown> & { events?: SensorEvent[] };
      if (request.url === '/api/v1/runtime/heartbeat') {
        state.beats.push(body);
        return reply.end(JSON.stringify({ enabled: state.isEnabled }));
      }
      state.events.push(...(body.events ?? []));
      return reply.writeHead(202).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  return Object.assign(state, { url: `http://127.0.0.1:${port}`, close: () => void server.close() });
}
