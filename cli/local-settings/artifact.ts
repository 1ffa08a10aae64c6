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
import { installCrs, sha256, treeHash } from './crs.mjs';
import { Refusal, root, shown } from './environment.mjs';

/** A first settings file: everything at the specification's defaults, the sites left to UPSTREAM_*. */
const firstSettings = { mode: 'On', paranoia_level: 1, inbound_threshold: 5, outbound_threshold: 4, sites: [] };
const artifactsMax = 20; // beyond, those unused for longest are removed

export function settingsFile(data) {
  const file = join(data, 'settings.json');
  if (!existsSync(file)) {
    mkdirSync(data, { recursive: true });
    writeFileSync(file, `${JSON.stringify(firstSettings, null, 2)}\n`, { flag: 'wx' });
  }
  return file;
}

export function readSettings(file) {
  const text = readFileSync(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Refusal(
        `${shown(file)} is not JSON: ${error.message}\n  Mend the file (or move it away: a fresh one is written at the next start).`,
      );
    throw error;
  }
}

/** Hash of the compiler as built: another compiler may emit other bytes from the same settings. */
function compilerHash() {
  const hash = createHash('sha256');
  for (const room of ['compiler', 'engine']) {
    const at = join(root, 'build', room);
    const names = readdirSync(at, { recursive: true })
      .filter((name) => name.endsWith('.js') && !name.endsWith('.test.js'))
      .sort();
    for (const name of names)
      hash
        .update(name)
        .update('\0')
        .update(readFileSync(join(at, name)));
  }
  const addon = join(root, 'engine/native/build/Release/gatehouse_native.node');
  if (existsSync(addon)) hash.update(readFileSync(addon));
  return hash.digest('hex');
}

/** Runs the compiler in a process of its own: its memory (hundreds of MB at PL4) does not stay with the caller. */
function compileInChild(settings, output, crs, signal) {
  const args = [join(root, 'bin/gatehouse'), 'compile', '--settings', settings, '-o', output];
  const env = { ...process.env, CRS_DIR: crs.directory, GATEHOUSE_UNICODE_MAPPING: crs.unicodeMapping ?? '' };
  return new Promise((resolveCode, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], signal });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
    let failure = null; // an abort is told at once; what waits for it must find the process gone
    child.on('error', (error) => (child.pid === undefined ? reject(error) : (failure = error)));
    child.on('close', (code) => (failure === null ? resolveCode({ code, said }) : reject(failure)));
  });
}

/** The artifact's name, or null: also for a file that a power cut left empty, since compiling again is all it takes. */
function readKey(index) {
  const found = existsSync(index) ? /^\{"sha256":"([0-9a-f]{64})"\}$/.exec(readFileSync(index, 'utf8')) : null;
  return found === null ? null : found[1];
}

function prune(directory) {
  const kept = readdirSync(directory)
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .map((name) => ({ name, usedMs: statSync(join(directory, name)).mtimeMs }));
  for (const { name } of kept.sort((a, b) => b.usedMs - a.usedMs).slice(artifactsMax))
    rmSync(join(directory, name), { force: true });
}

/**
 * Settings file → `{ path, sha256, cached, tookMs, said, crs }`: the artifact's file, its hash, whether it was compiled
 * now, and what the compiler said. Throws Refusal with the compiler's diagnostics when the settings do not compile, and
 * an AbortError when `signal` ended the compiler.
 */
export async function prepareArtifact(file, data, { say = () => {}, signal } = {}) {
  const startedMs = Date.now();
  readSettings(file); // a broken file is reported before anything slow
  const crs = await installCrs({ say });
  const mapping = crs.unicodeMapping === null ? '' : readFileSync(crs.unicodeMapping);
  const key = sha256(
    [
      sha256(readFileSync(file)),
      treeHash(crs.directory),
      sha256(mapping),
      compilerHash(),
      process.arch,
      crs.version,
    ].join('\n'),
  );
  const directory = join(resolve(data), 'artifacts');
  const index = join(directory, `key-${key}.json`);
  mkdirSync(directory, { recursive: true });
  const known = readKey(index);
  const path = known === null ? null : join(directory, known);
  if (path !== null && existsSync(path) && sha256(readFileSync(path)) === known) {
    utimesSync(path, new Date(), new Date());
    return { path, sha256: known, cached: true, tookMs: Date.now() - startedMs, said: '', crs };
  }
  say('compiling the rules (seconds the first time, later only what changed)');
  const staging = join(directory, `.${randomUUID()}.part`);
  const { code, said } = await compileInChild(file, staging, crs, signal).catch((error) => {
    rmSync(staging, { force: true });
    throw error;
  });
  if (code !== 0 || !existsSync(staging)) {
    rmSync(staging, { force: true });
    throw new Refusal(
      `the settings in ${shown(file)} do not compile; nothing was changed:\n${said.trim() || `the compiler ended with ${code} and said nothing`}`,
    );
  }
  const hash = sha256(readFileSync(staging));
  renameSync(staging, join(directory, hash));
  writeFileSync(`${index}.part`, JSON.stringify({ sha256: hash }));
  renameSync(`${index}.part`, index);
  prune(directory);
  return {
    path: join(directory, hash),
    sha256: hash,
    cached: false,
    tookMs: Date.now() - startedMs,
    said: said.trim(),
    crs,
  };
}
