// `make dev`: `gatehouse up`, built and started again whenever a source changes. A build that fails leaves what runs.
import { spawn, spawnSync } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { root } from './environment.mjs';

const rooms = ['engine', 'compiler', 'proxy', 'api', 'fixtures', 'bin'];
const quietMs = 300; // editors write in bursts

let child = null;
let isEnding = false;
function begin() {
  child = spawn(process.execPath, [join(root, 'bin/gatehouse'), 'up', ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
  });
  child.on('exit', (code) => {
    child = null;
    if (isEnding) process.exit(code ?? 0);
  });
}
/** Resolves when what runs has stopped; `up` bounds that itself. */
function end() {
  return new Promise((resolve) => {
    if (child === null) return resolve();
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });
}

let timer = null;
let isRestarting = false;
async function restart() {
  if (isRestarting || isEnding) return;
  isRestarting = true;
  const built = spawnSync(process.execPath, [join(root, 'bin/build.mjs')], { cwd: root, stdio: 'inherit' });
  if (built.status === 0) {
    console.log('dev: built; starting again');
    await end();
    if (!isEnding) begin();
  } else console.error('dev: the build failed; what runs goes on');
  isRestarting = false;
}

for (const room of rooms) {
  watch(join(root, room), { recursive: true }, (_, name) => {
    if (name === null || !/\.(ts|mjs|sql|html)$/.test(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void restart(), quietMs);
  });
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    isEnding = true;
    if (child === null) process.exit(0);
    // Ctrl-C reaches the child by itself (same terminal); SIGTERM must be passed on.
    if (signal === 'SIGTERM') child.kill(signal);
  });
}
begin();
