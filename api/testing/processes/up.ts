// `gatehouse up` as a process of its own, and what a person does with it. Nothing of it is imported.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { freePort } from '../free-port.js';
import { bareEnvironment, makeDirectory } from '../temporary.js';

export const root = fileURLToPath(new URL('../../../..', import.meta.url)); // from build/api/testing/processes
const startMsMax = 300_000;
const stopMsMax = 120_000; // `up` itself kills a part after 15 s, and says so

export const portNames = ['WAF_PORT', 'JA3_PORT', 'GATEHOUSE_ADMIN_PORT', 'API_PORT', 'UI_PORT', 'DEMO_PORT'] as const;
export type PortName = (typeof portNames)[number];

/** With what set-up has fetched for this checkout, where it could: a start that misses it asks the package servers. */
export async function makeHome(t: Test): Promise<string> {
  const home = await makeDirectory(t, 'up');
  const mapping = 'data/crs/unicode.mapping';
  await mkdir(join(home, dirname(mapping)), { recursive: true });
  if (existsSync(join(root, mapping))) await copyFile(join(root, mapping), join(home, mapping));
  return home;
}

export async function freePorts(): Promise<Record<PortName, string>> {
  const ports: [string, string][] = [];
  for (const name of portNames) ports.push([name, String(await freePort())]);
  return Object.fromEntries(ports) as Record<PortName, string>;
}

export interface Up {
  readonly process: ChildProcess;
  readonly said: () => string;
  /** Resolves when the text has been printed; rejects when the process ends first. */
  readonly until: (text: RegExp) => Promise<void>;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Tests reach nothing outside: the check of a new password is refused at once. */
const breachCheck = { BREACHED_PASSWORDS_URL: 'http://127.0.0.1:1/' };

/** Only what a login shell would have: an environment that this test inherits must not decide what it sees. */
export function startUp(t: Test, variables: Readonly<Record<string, string>>, command: readonly string[] = ['up']): Up {
  const { HOME = '', GATEHOUSE_TEST_NODE_OPTIONS: options = '' } = process.env;
  // tap loads itself into every Node.js that its tests start, by NODE_OPTIONS, and does not get on with a command that
  // has no .js; what the runner asks for stays
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      'export NODE_OPTIONS="$1"; shift; exec "$0" "$@"',
      process.execPath,
      options,
      join(root, 'bin/gatehouse'),
      ...command,
    ],
    { cwd: root, env: { ...bareEnvironment(), HOME, ...breachCheck, ...variables }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<number | string>((resolve) =>
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'nothing')),
  );
  t.teardown(async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
  });
  const until = (text: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${String(text)} did not come in ${startMsMax} ms:\n${said}`)),
        startMsMax,
      );
      const settle = (problem: string | null): void => {
        clearTimeout(timer);
        listeners.delete(look);
        if (problem === null) resolve();
        else reject(new Error(problem));
      };
      const look = (): void => void (text.test(said) && settle(null));
      listeners.add(look);
      void ended.then((code) => settle(`ended with ${code}:\n${said}`));
      look();
    });
  return { process: child, said: () => said, until, ended };
}

export function childrenOf(pid: number): { readonly pid: number; readonly command: string }[] {
  return execFileSync('ps', ['-ww', '-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((row) => row !== null && Number(row[2]) === pid)
    .map((row) => ({ pid: Number(row?.[1]), command: row?.[3] ?? '' }))
    .filter(({ command }) => !command.startsWith('ps '));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** SIGTERM; resolves with the exit code, or the signal that ended it. */
export async function stop(up: Up): Promise<number | string> {
  up.process.kill('SIGTERM');
  // its parts end with it: their channel closes
  const lastResort = setTimeout(() => up.process.kill('SIGKILL'), stopMsMax);
  const code = await up.ended;
  clearTimeout(lastResort);
  return code;
}

export async function textOfAll(directory: string): Promise<string> {
  const texts = (await readdir(directory)).map((name) => readFile(join(directory, name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}

export interface Answer {
  readonly status: number;
  readonly body: { readonly token?: string };
}

export async function callApi(
  port: string,
  method: string,
  path: string,
  body: object | null,
  token = '',
): Promise<Answer> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    },
    body: body === null ? null : JSON.stringify(body),
  });
  const text = await reply.text();
  return { status: reply.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
}

export const logIn = (port: string, password: string): Promise<Answer> =>
  callApi(port, 'POST', '/api/login', { email: 'admin@gatehouse.local', password });

export const attack = "/search?q=1'%20OR%20'1'='1'%20--%20";
export const isUp = /Ctrl-C stops everything\./;
