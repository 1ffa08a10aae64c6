// The seam between settings on disk and an artifact that a data plane can serve. Compiled artifacts are kept by a hash
// of everything that went in, so that a start with nothing changed compiles nothing.
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { environmentFor } from '#settings/environment';
import { program, root, shown } from '../environment/directories.js';
import { Refusal } from '../refusal.js';
import { installCrs, type InstalledRuleSet } from '../rule-set/install.js';
import { sha256, treeHash, type Say } from '../rule-set/lock.js';
import { readSettings } from './settings-file.js';

const artifactsMax = 20; // beyond, those unused for longest are removed
/** Whoever turns settings into the bytes of an artifact lives in one of them. */
const compilingRooms = ['settings', 'engine', 'compiler', 'cli'];

/** Hash of the compiler as built: another compiler may emit other bytes from the same settings. */
function compilerHash(): string {
  const hash = createHash('sha256');
  for (const room of compilingRooms) {
    const at = join(root, 'build', room);
    const names = readdirSync(at, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js') && !name.endsWith('.test.js'))
      .sort();
    for (const name of names) hash.update(`${name}\0`).update(readFileSync(join(at, name)));
  }
  const addon = join(root, 'engine/native/build/Release/gatehouse_native.node');
  if (existsSync(addon)) hash.update(readFileSync(addon));
  return hash.digest('hex');
}

/** A name for the artifact that these settings and this rule set become. */
function keyOf(settingsFile: string, crs: InstalledRuleSet): string {
  const mapping = crs.unicodeMapping === null ? '' : readFileSync(crs.unicodeMapping);
  const parts = [
    sha256(readFileSync(settingsFile)),
    treeHash(crs.directory),
    sha256(mapping),
    compilerHash(),
    process.arch,
    crs.version,
  ];
  return sha256(parts.join('\n'));
}

interface Compiled {
  readonly code: number | null;
  readonly said: string;
}

/** Runs the compiler in a process of its own: its memory (hundreds of MB at PL4) does not stay with the caller. */
function compileInChild(
  settings: string,
  output: string,
  crs: InstalledRuleSet,
  signal: AbortSignal | undefined,
): Promise<Compiled> {
  const args = [program, 'compile', '--settings', settings, '-o', output];
  const env = {
    ...environmentFor('commands', process.env),
    CRS_DIR: crs.directory,
    GATEHOUSE_UNICODE_MAPPING: crs.unicodeMapping ?? '',
  };
  return new Promise((resolveCode, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], signal });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    let failure: Error | null = null; // an abort is told at once; what waits for it must find the process gone
    child.on('error', (error) => {
      if (child.pid === undefined) reject(error);
      else failure = error;
    });
    child.on('close', (code) => {
      if (failure === null) resolveCode({ code, said });
      else reject(failure);
    });
  });
}

/** The artifact's name, or null: also for a file that a power cut left empty, since compiling again is all it takes. */
function readKey(index: string): string | null {
  const text = existsSync(index) ? readFileSync(index, 'utf8') : '';
  return /^\{"sha256":"([0-9a-f]{64})"\}$/.exec(text)?.[1] ?? null;
}

function prune(directory: string): void {
  const kept = readdirSync(directory)
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .map((name) => ({ name, usedMs: statSync(join(directory, name)).mtimeMs }));
  for (const { name } of kept.sort((a, b) => b.usedMs - a.usedMs).slice(artifactsMax))
    rmSync(join(directory, name), { force: true });
}

export interface PreparedArtifact {
  readonly path: string;
  readonly sha256: string;
  /** It was there already; else it was compiled now. */
  readonly cached: boolean;
  readonly tookMs: number;
  /** What the compiler said. */
  readonly said: string;
  readonly crs: InstalledRuleSet;
}

export interface PrepareOptions {
  readonly say?: Say;
  readonly signal?: AbortSignal;
}

/**
 * The artifact of a settings file. Throws Refusal with the compiler's diagnostics when the settings do not compile, and
 * an AbortError when `signal` ended the compiler.
 */
export async function prepareArtifact(
  file: string,
  data: string,
  { say = () => {}, signal }: PrepareOptions = {},
): Promise<PreparedArtifact> {
  const startedMs = Date.now();
  readSettings(file); // a broken file is reported before anything slow
  const crs = await installCrs({ say });
  const directory = join(resolve(data), 'artifacts');
  const index = join(directory, `key-${keyOf(file, crs)}.json`);
  mkdirSync(directory, { recursive: true });
  const known = readKey(index);
  const path = known === null ? null : join(directory, known);
  if (known !== null && path !== null && existsSync(path) && sha256(readFileSync(path)) === known) {
    utimesSync(path, new Date(), new Date());
    return { path, sha256: known, cached: true, tookMs: Date.now() - startedMs, said: '', crs };
  }
  say('compiling the rules (seconds the first time, later only what changed)');
  const { hash, said } = await compileInto(directory, file, crs, signal);
  writeFileSync(`${index}.part`, JSON.stringify({ sha256: hash }));
  renameSync(`${index}.part`, index);
  prune(directory);
  const tookMs = Date.now() - startedMs;
  return { path: join(directory, hash), sha256: hash, cached: false, tookMs, said, crs };
}

/** Compiles under a temporary name; what is unfinished leaves nothing behind. */
async function compileInto(
  directory: string,
  file: string,
  crs: InstalledRuleSet,
  signal: AbortSignal | undefined,
): Promise<{ readonly hash: string; readonly said: string }> {
  const staging = join(directory, `.${randomUUID()}.part`);
  try {
    const { code, said } = await compileInChild(file, staging, crs, signal);
    if (code !== 0 || !existsSync(staging)) {
      const why = said.trim() || `the compiler ended with ${code} and said nothing`;
      throw new Refusal(`the settings in ${shown(file)} do not compile; nothing was changed:\n${why}`);
    }
    const hash = sha256(readFileSync(staging));
    renameSync(staging, join(directory, hash));
    return { hash, said: said.trim() };
  } finally {
    rmSync(staging, { force: true });
  }
}
