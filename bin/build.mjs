// Transpiles every .ts of the rooms into build/, file by file, no bundling, so that stack traces, worker threads
// and tests see the tree as it is written. Types are checked apart (`make check`): a build is a fraction of a second.
// `node bin/build.mjs [room…]` limits it to some rooms. A file that does not parse is reported and the others are
// still built; the exit code is 1.
import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root } from './environment.mjs';

const rooms = ['settings', 'engine', 'compiler', 'proxy', 'api', 'vm-manager', 'cli', 'bench', 'fixtures', 'tidy'];
const wanted = process.argv.slice(2).length > 0 ? process.argv.slice(2) : [...rooms, '.'];
const carried = new Set(['.sql', '.html']);

/** Every path below `directory`, relative to the root; skips dependency and native build folders. */
async function walk(directory) {
  const found = [];
  for (const entry of await readdir(join(root, directory), { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === 'build' || entry.name.startsWith('.')) continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (directory !== '.') found.push(...(await walk(path)));
    } else found.push(path);
  }
  return found;
}

/** Removes outputs whose source is gone: a deleted test must not go on running from build/. */
async function sweep(directory, sources) {
  const at = join(root, 'build', directory);
  if (!existsSync(at)) return;
  for (const entry of await readdir(at, { withFileTypes: true, recursive: true })) {
    if (entry.isDirectory()) continue;
    const built = join(entry.parentPath ?? entry.path, entry.name).slice(join(root, 'build').length + 1);
    if (!built.startsWith(directory === '.' ? '' : directory)) continue;
    const source = built.replace(/\.js(\.map)?$/, '.ts');
    if (!sources.has(source) && !sources.has(built)) await rm(join(root, 'build', built), { force: true });
  }
}

let failed = false;
for (const room of wanted) {
  if (room !== '.' && !existsSync(join(root, room))) continue;
  const files = await walk(room);
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
  if (room !== '.') await sweep(room, new Set(files));
  for (const file of files) {
    if (![...carried].some((end) => file.endsWith(end))) continue;
    await mkdir(dirname(join(root, 'build', file)), { recursive: true });
    await copyFile(join(root, file), join(root, 'build', file));
  }
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
  try {
    if (sources.length > 0) await build({ ...options, entryPoints: sources });
  } catch {
    for (const source of sources) {
      try {
        await build({ ...options, entryPoints: [source] });
      } catch (error) {
        failed = true;
        for (const problem of error.errors ?? [{ text: String(error) }])
          console.error(`${problem.location?.file ?? source}:${problem.location?.line ?? 0}: ${problem.text}`);
      }
    }
  }
}
process.exit(failed ? 1 : 0);
