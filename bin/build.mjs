// @ts-check
// Transpiles every .ts of the rooms into build/, file by file, so that stack traces and tests see the tree as it is
// written; then puts the programs of processes and threads together for fast starts (fuse.mjs). Types are checked apart
// (`make check`). `node bin/build.mjs [room…]` limits it to some rooms. A file that does not parse is reported and the
// others are still built; the exit code is 1.
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { createHash, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fuse } from './fuse.mjs';
import { fuseTap } from './fuse-tap.mjs';
import { packSensor } from './sensor-package.mjs';

const root = resolve(fileURLToPath(new URL('..', import.meta.url)));
const rooms = [
  'settings',
  'engine',
  'compiler',
  'proxy',
  'api',
  'vm-manager',
  'sensor',
  'cli',
  'bench',
  'fixtures',
  'tidy',
  'console',
  'deploy',
];
const wanted = process.argv.slice(2).length > 0 ? process.argv.slice(2) : [...rooms, '.'];
const carried = ['.sql', '.html'];
/** Written by console/bundle/bundle.ts, from sources of another shape. */
const bundled = join(root, 'build/console/web-bundle/');
/** Made of LICENCE_PUBLIC_KEY; a build that fails leaves it as it was. */
const vendorKeyFile = join(root, 'build/api/licence/vendor-key.pem');

/** @type {import('esbuild').BuildOptions} */
const options = {
  absWorkingDir: root,
  outdir: 'build',
  outbase: '.',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: 'linked',
  logLevel: 'silent',
};

/**
 * Every path below `directory`, relative to the root; skips dependency and native build folders. Of the root itself
 * only the files.
 * @param {string} directory
 * @returns {Promise<string[]>}
 */
async function walk(directory) {
  const found = [];
  for (const entry of await readdir(join(root, directory), { withFileTypes: true })) {
    if (
      entry.name === 'node_modules' ||
      entry.name === 'generated' ||
      entry.name === 'build' ||
      entry.name.startsWith('.')
    )
      continue;
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) found.push(path);
    else if (directory !== '.') found.push(...(await walk(path)));
  }
  return found;
}

/**
 * Removes outputs whose source is gone: a deleted test must not go on running from build/.
 * @param {string} directory
 * @param {ReadonlySet<string>} sources
 */
async function sweep(directory, sources) {
  const at = join(root, 'build', directory);
  if (!existsSync(at)) return;
  for (const entry of await readdir(at, { withFileTypes: true, recursive: directory !== '.' })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isDirectory() || path.startsWith(bundled) || path === vendorKeyFile) continue;
    const built = relative(join(root, 'build'), path);
    const source = built.replace(/\.js(\.map)?$/, '.ts');
    if (!sources.has(source) && !sources.has(built)) await rm(path, { force: true });
  }
}

/**
 * Whether all of them were transpiled; the others are reported.
 * @param {readonly string[]} sources
 */
async function transpile(sources) {
  if (sources.length === 0) return true;
  try {
    await build({ ...options, entryPoints: [...sources] });
    return true;
  } catch {
    for (const source of sources) await build({ ...options, entryPoints: [source] }).catch(report(source));
    return false;
  }
}

/** @param {string} source */
function report(source) {
  return (/** @type {Error & Partial<import('esbuild').BuildFailure>} */ error) => {
    for (const { location, text } of error.errors ?? [{ location: null, text: error.message }])
      console.error(`${location?.file ?? source}:${location?.line ?? 0}: ${text}`);
  };
}

const unknown = process.argv.slice(2).filter((room) => room !== '.' && !rooms.includes(room));
if (unknown.length > 0) {
  console.error(`build: there is no room ${unknown.join(', ')}; the rooms are ${rooms.join(', ')}.`);
  process.exit(2);
}

/**
 * Whether the programs below build/ ended well, one after the other; a stamp of `files` says that they need not run.
 * @param {readonly string[]} files
 * @param {string} stampFile
 * @param {readonly string[]} programs
 */
async function derive(files, stampFile, programs) {
  const hash = createHash('sha256');
  for (const file of [...files, 'package-lock.json'].sort())
    hash.update(`${file}\n`).update(await readFile(join(root, file)));
  const stamp = hash.digest('hex');
  if (existsSync(stampFile) && (await readFile(stampFile, 'utf8')) === stamp) return true;
  for (const program of programs) {
    const child = spawn(process.execPath, [join(root, 'build', program)], { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    if (code !== 0) return false;
  }
  await writeFile(stampFile, stamp);
  return true;
}

/** Rooms that routes and their schemas are made of. */
const described = ['settings', 'engine', 'compiler', 'proxy', 'api', 'vm-manager'];

/** The documents of both APIs, and the console's types, which are made of them. */
async function describeApis() {
  const files = (await Promise.all(described.map(walk))).flat().filter((path) => !path.endsWith('.test.ts'));
  const programs = ['api/documents/write.js', 'console/bundle/write-types.js'];
  return derive([...files, 'console/bundle/api-types.ts'], join(root, 'build/openapi/stamp'), programs);
}

/**
 * The key that this build checks licences with: LICENCE_PUBLIC_KEY (PEM text, or a file), of the environment or of
 * `.env`, else licence-public-key.pem in the checkout. Throws for a key that is none.
 */
async function vendorKey() {
  const environmentFile = process.env['GATEHOUSE_ENV_FILE'] || join(root, '.env');
  const stored = existsSync(environmentFile) ? await readFile(environmentFile, 'utf8') : '';
  const line = /^\s*LICENCE_PUBLIC_KEY\s*=\s*(.*?)\s*$/m.exec(stored)?.[1]?.replace(/^(["'])(.*)\1$/, '$2');
  const named = process.env['LICENCE_PUBLIC_KEY'] || line || '';
  const fallback = join(root, 'licence-public-key.pem');
  if (named === '' && !existsSync(fallback)) return null;
  const isText = named.includes('-----BEGIN');
  const file = named === '' ? fallback : resolve(root, named);
  const text = isText ? named.replaceAll('\\n', '\n') : await readFile(file, 'utf8');
  const from = isText ? 'LICENCE_PUBLIC_KEY' : file;
  if (text.includes('PRIVATE KEY')) throw new Error(`${from} is a private key; the build takes the public one.`);
  const key = createPublicKey(text);
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < 2048)
    throw new Error(`${from} is no RSA public key of at least 2048 bits.`);
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

/** Written where it changed, removed where there is none any more. Returns whether it could be read. */
async function takeVendorKey() {
  try {
    const key = await vendorKey();
    if (key === null) await rm(vendorKeyFile, { force: true });
    else await writeFile(vendorKeyFile, key);
    return true;
  } catch (error) {
    console.error(`build: the licence key cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

let isWhole = true;
/** @type {readonly string[]} */
let consoleFiles = [];
for (const room of wanted) {
  if (!existsSync(join(root, room))) continue;
  const files = await walk(room);
  await sweep(room, new Set(files));
  for (const file of files.filter((path) => carried.some((end) => path.endsWith(end)))) {
    await mkdir(dirname(join(root, 'build', file)), { recursive: true });
    await copyFile(join(root, file), join(root, 'build', file));
  }
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
  if (!(await transpile(sources))) isWhole = false;
  if (room === 'api' && !(await takeVendorKey())) isWhole = false;
  if (room === 'sensor' && isWhole) await packSensor();
  if (room === 'console') consoleFiles = files;
}
if (isWhole) {
  const bundles = consoleFiles.length > 0;
  const [isFused, isDescribed, isBundled] = await Promise.all([
    fuse()
      .then(fuseTap)
      .then(
        () => true,
        (error) => {
          report('build/fused')(error);
          return false;
        },
      ),
    !bundles || describeApis(),
    !bundles || derive(consoleFiles, join(bundled, 'stamp'), ['console/bundle/bundle.js']),
  ]);
  isWhole = isFused && isDescribed && isBundled;
}
process.exit(isWhole ? 0 : 1);
