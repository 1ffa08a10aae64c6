// One branch of a repository as an archive, by the program `git`: one commit deep, without tags and submodules, into a
// bare repository of its own, so that nothing of it is checked out and no hook and no filter runs.
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '#http-kit';
import type { WayOut } from '../../host.js';
import { openDoor } from './door.js';

export interface GitLimits {
  readonly bytesMax: number;
  readonly msMax: number;
}

export interface Wanted {
  readonly url: string;
  readonly branch: string;
  readonly credential: { readonly user: string; readonly word: string } | null;
  /** Certificates (PEM) that the host is to be known by; null: the public ones. */
  readonly authorities?: string | null;
  /** The part of it that is wanted; empty: all. */
  readonly directory?: string;
}

export interface FetchedTree {
  /** A tar of the branch's files. */
  readonly file: string;
  readonly bytes: number;
  readonly commit: string;
  discard(): Promise<void>;
}

/** Of a process: a few bytes of a pack say to repeat others until nothing is left of the memory. */
const memoryKbMax = 2 * 1024 ** 2;
const shell = '/bin/sh';
const limited = `ulimit -v ${memoryKbMax} && exec git "$@"`;
/** What a shell ends with that does not find the program. */
const notFound = 127;
const saidMax = 2000;
/** Of what a branch may be called, what `git check-ref-format` takes and no program takes for an option. */
export const branchPattern = '^(?![-/.])(?!.*(?:\\.\\.|//|@\\{|/\\.|\\.lock$|[/.]$))[A-Za-z0-9._/#+@-]{1,200}$';

/** Nothing of this machine's settings and environment; all of it by name, and secrets in no argument. */
function environmentOf(home: string, settings: readonly (readonly [name: string, value: string])[], scheme: string) {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ALLOW_PROTOCOL: scheme,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([name, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, name],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  };
}

interface Running {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** What it has said, without what an address may have in it. */
const told = (text: string): string =>
  text
    .replace(/\/\/[^/@\s]*@/g, '//')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 300);

const notInstalled = (): ApiError =>
  new ApiError('not_ready', 'The program git is not installed where the control plane runs.');

/** Rejects with what git said, and ends git with all that it has begun where the signal says so. */
async function run(args: readonly string[], { cwd, env, signal }: Running, into: Writable | null): Promise<string> {
  const child = spawn(shell, ['-c', limited, 'git', ...args], {
    ...{ cwd, env, detached: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, said] = ['', ''];
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // it is gone already
    }
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-saidMax)));
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    if (into === null) child.stdout.on('data', (chunk: Buffer) => (out = `${out}${chunk.toString()}`.slice(-saidMax)));
    const [code] = await Promise.all([exited, into === null ? null : pipeline(child.stdout, into)]);
    if (code === notFound) throw notInstalled();
    if (code !== 0) throw new Error(told(said) || `ended with ${code}`);
    return out.trim();
  } catch (error) {
    end();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw notInstalled();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

const bounded = (bytesMax: number): Transform => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(bytes > bytesMax ? new Error('too large') : null, chunk);
    },
  });
};

function refused(error: unknown, refusal: unknown, { bytesMax, msMax }: GitLimits, signal: AbortSignal): unknown {
  if (error instanceof ApiError) return error;
  if (refusal instanceof ApiError) return refusal;
  const why = error instanceof Error ? error.message : String(error);
  if (refusal === 'too large' || why === 'too large')
    return new ApiError('body_too_large', `The branch has more than ${bytesMax} bytes: send an archive of the part.`);
  if (signal.aborted) return new ApiError('outbound_failed', `Git was not ready after ${msMax / 1000} s.`);
  return new ApiError('outbound_failed', `Git could not fetch it: ${why}`);
}

const settingsOf = (
  { url, credential }: Wanted,
  proxy: string,
  authorities: string | null,
): readonly (readonly [string, string])[] => [
  ['http.proxy', proxy],
  ['http.proxyAuthMethod', 'basic'],
  ['http.followRedirects', 'false'],
  ['http.sslVerify', 'true'],
  ...(authorities === null ? [] : ([['http.sslCAInfo', authorities]] as const)),
  ['core.hooksPath', devNull],
  ['core.fsmonitor', 'false'],
  ['core.symlinks', 'false'],
  ['core.bigFileThreshold', '1m'],
  ['fetch.recurseSubmodules', 'false'],
  ['fetch.unpackLimit', '1'],
  ['fetch.fsckObjects', 'true'],
  ['pack.threads', '1'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ...(credential === null
    ? []
    : ([
        [
          `http.${url}.extraHeader`,
          `Authorization: Basic ${Buffer.from(`${credential.user}:${credential.word}`).toString('base64')}`,
        ],
      ] as const)),
];

/** Throws ApiError: `outbound_refused`, `outbound_failed`, `body_too_large`, `not_ready` (there is no git). */
export async function fetchTree(
  wanted: Wanted,
  connect: NonNullable<WayOut['connect']>,
  limits: GitLimits,
): Promise<FetchedTree> {
  const target = new URL(wanted.url);
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-git-'));
  const discard = (): Promise<void> => rm(directory, { recursive: true, force: true });
  const door = await openDoor(target, connect, limits.bytesMax);
  const signal = AbortSignal.timeout(limits.msMax);
  const authorities = wanted.authorities ? join(directory, 'authorities.pem') : null;
  const env = environmentOf(directory, settingsOf(wanted, door.url, authorities), target.protocol.slice(0, -1));
  const running = { cwd: directory, env, signal };
  try {
    if (authorities !== null) await writeFile(authorities, wanted.authorities ?? '', { mode: 0o600 });
    await run(['init', '--quiet', '--bare', '--template=', 'r'], running, null);
    const inside = { ...running, cwd: join(directory, 'r') };
    // a branch cannot hide files from the archive
    await mkdir(join(inside.cwd, 'info'), { recursive: true });
    await writeFile(join(inside.cwd, 'info', 'attributes'), '* -export-ignore -export-subst\n');
    const ref = 'refs/heads/fetched';
    const depth = ['--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head', '--quiet'];
    await run(['fetch', ...depth, '--', wanted.url, `+refs/heads/${wanted.branch}:${ref}`], inside, null);
    const commit = await run(['rev-parse', '--verify', ref], inside, null);
    const file = join(directory, 'tree.tar');
    const into = bounded(limits.bytesMax);
    const written = pipeline(into, createWriteStream(file, { mode: 0o600, flags: 'wx' }));
    written.catch(() => undefined);
    const part = wanted.directory ? ['--', wanted.directory] : [];
    await run(['archive', '--format=tar', ref, ...part], inside, into);
    await written;
    await rm(inside.cwd, { recursive: true, force: true });
    return { file, bytes: (await stat(file)).size, commit, discard };
  } catch (error) {
    await discard();
    throw refused(error, door.refusal(), limits, signal);
  } finally {
    door.close();
  }
}
