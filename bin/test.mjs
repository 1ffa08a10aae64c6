// @ts-check
// Runs the built tests (cli/test-runner/run.ts says how): `node bin/test.mjs [word…]`.
import { fileURLToPath } from 'node:url';
import { loadBuilt } from './built.mjs';

/** @type {typeof import('../cli/test-runner/run.js')} */
const { runTests } = await loadBuilt('cli/test-runner/run.js', 'test');
process.exitCode = await runTests(fileURLToPath(new URL('..', import.meta.url)), process.argv.slice(2));
