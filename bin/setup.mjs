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
import { fail, root, run, say } from './setup/tools.mjs';

function transpile() {
  if (!run(process.execPath, [join(root, 'bin/build.mjs')]))
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

const asked = process.argv.slice(2);
if (asked.includes('--clean')) {
  for (const path of ['build', 'node_modules', 'engine/native/build', '.tap'])
    rmSync(join(root, path), { recursive: true, force: true });
  say('removed build/, node_modules/, engine/native/build/ and .tap/; data/ and .env are kept');
  process.exit(0);
}
checkNode();
for (const name of asked.length > 0 ? asked : everything) {
  const step = Object.hasOwn(steps, name) ? steps[name] : undefined;
  if (step === undefined) fail(`there is no step "${name}"; the steps are ${Object.keys(steps).join(', ')}.`);
  await step();
}
