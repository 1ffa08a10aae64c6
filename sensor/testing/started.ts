// The application as a process with the sensor in it, and how something is sent to its flows.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Attempt } from './attempts.js';
import { key } from './collector.js';

export interface Started {
  readonly port: number;
  readonly inner: string;
  readonly directory: string;
  readonly pid: number;
  /** What it wrote to stderr. */
  readonly said: string[];
  close(): Promise<void>;
}

export interface StartOptions {
  readonly node?: string;
  /** Where the package of the server is, beside those of the house. */
  readonly packages?: string;
  readonly register?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

const place = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export async function startApp(kind: string, url: string | null, options: StartOptions = {}): Promise<Started> {
  const { node = process.execPath, packages = '-', register = place('../../sensor-package/register.mjs') } = options;
  const child = spawn(node, ['--import', register, place('./app.js'), kind, packages], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...{ PATH: process.env['PATH'] ?? '', TMPDIR: process.env['TMPDIR'] ?? '' },
      ...(url === null ? {} : { GATEHOUSE_SENSOR_URL: url, GATEHOUSE_SENSOR_KEY: key }),
      ...{ GATEHOUSE_SENSOR_APPLICATION: '1', GATEHOUSE_SENSOR_NAME: 'lab', GATEHOUSE_SENSOR_TOKEN: 'apt_x' },
      ...{
        GATEHOUSE_SENSOR_BATCH_SECONDS: '0.1',
        GATEHOUSE_SENSOR_HEARTBEAT_SECONDS: '1',
        GATEHOUSE_SENSOR_VERBOSE: '1',
      },
      ...options.environment,
    },
  });
  const said: string[] = [];
  createInterface(child.stderr).on('line', (line) => said.push(line));
  const first = await new Promise<string>((done, refuse) => {
    createInterface(child.stdout).once('line', done);
    child.once('exit', (code) => refuse(new Error(`ended with ${code}: ${said.join('\n')}`)));
  });
  return {
    ...(JSON.parse(first) as Pick<Started, 'port' | 'inner' | 'directory' | 'pid'>),
    said,
    close: () =>
      new Promise((done) => {
        child.once('exit', () => done());
        child.stdin.end();
      }),
  };
}

/** Sends the value to one twin of the flow; the answer's text. */
export async function send(
  port: number,
  { flow, place: where }: Attempt,
  twin: string,
  value: string,
): Promise<string> {
  const base = `http://127.0.0.1:${port}/${flow}/${twin}`;
  const encoded = encodeURIComponent(value);
  const asked = ((): [string, RequestInit] => {
    if (where === 'query') return [`${base}?value=${encoded}`, {}];
    if (where === 'path') return [`${base}/${encoded}`, {}];
    if (where === 'header') return [base, { headers: { 'x-value': value } }];
    if (where === 'cookie') return [base, { headers: { cookie: `sid=1; value=${encoded}` } }];
    if (where === 'form') return [base, { method: 'POST', body: new URLSearchParams({ value }) }];
    const headers = { 'content-type': 'application/json' };
    return [base, { method: 'POST', headers, body: JSON.stringify({ value }) }];
  })();
  const reply = await fetch(asked[0], { ...asked[1], signal: AbortSignal.timeout(20_000) });
  return reply.text();
}

/** What the sensor told by then. */
export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
