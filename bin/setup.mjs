// @ts-check
// Makes a checkout runnable: system packages, npm packages, the test runner, the native addon, the build, the rules.
// Every step is skipped when its stamp (a hash of what it depends on) is unchanged, so a second run takes well under a
// second. It runs before `npm ci`, hence no dependency here, and before the build, hence no TypeScript: only its last
// step is taken from build/. `node bin/setup.mjs [step…]`; no step = all of them.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadBuilt } from './built.mjs';
import { checkNode, native, npm, tap } from './setup/node-packages.mjs';
import { optional, packages } from './setup/system-packages.mjs';
import { fail, root, say, start } from './setup/tools.mjs';

async function transpile() {
  if (!(await start(process.execPath, [join(root, 'bin/build.mjs')])))
    fail('some sources do not parse; the messages above say where.');
  say('build: done');
}

async function crs() {
  /** @type {typeof import('../cli/rule-set/set-up.js')} */
  const { setUpRuleSet } = await loadBuilt('cli/rule-set/set-up.js', 'setup');
  // of a deployment as its .env says; single steps are for tests, which .env is not for
  const code = await setUpRuleSet({ isForDeployment: asked.length === 0, say });
  if (code !== 0) process.exit(code);
}

/** @type {Readonly<Record<string, () => void | Promise<void>>>} */
const steps = { packages, optional, npm, tap, native, build: transpile, crs };
const everything = ['packages', 'npm', 'tap', 'native', 'build', 'crs'];
/** What the step named waits for; steps that wait for nothing more run beside each other. */
const after = {
  packages: [],
  optional: ['packages'],
  npm: ['packages', 'optional'],
  tap: ['npm'],
  native: ['npm'],
  build: ['npm'],
  crs: ['build'],
};
/** A step that took less says nothing of it. */
const secondsTold = 2;

const asked = process.argv.slice(2);
if (asked.includes('--clean')) {
  for (const path of ['build', 'node_modules', 'engine/native/build', '.tap'])
    rmSync(join(root, path), { recursive: true, force: true });
  say('removed build/, node_modules/, engine/native/build/ and .tap/; data/ and .env are kept');
  process.exit(0);
}
checkNode();
const wanted = asked.length > 0 ? asked : everything;
for (const name of wanted)
  if (!Object.hasOwn(steps, name)) fail(`there is no step "${name}"; the steps are ${Object.keys(steps).join(', ')}.`);

/** @type {Map<string, Promise<void>>} */
const begun = new Map();
const seconds = (/** @type {number} */ sinceMs) => ((performance.now() - sinceMs) / 1000).toFixed(1);
/**
 * Begins a step when those that it waits for are done, and says how long it took.
 * @param {string} name
 * @returns {Promise<void>}
 */
function begin(name) {
  const known = begun.get(name);
  if (known !== undefined) return known;
  const before = after[/** @type {keyof typeof after} */ (name)].filter((one) => wanted.includes(one));
  const done = Promise.all(before.map(begin)).then(async () => {
    const startedMs = performance.now();
    await steps[name]?.();
    if (performance.now() - startedMs > secondsTold * 1000) say(`  ${name} took ${seconds(startedMs)} s`);
  });
  begun.set(name, done);
  return done;
}
const startedMs = performance.now();
await Promise.all(wanted.map(begin));
if (performance.now() - startedMs > secondsTold * 1000) say(`done in ${seconds(startedMs)} s`);
