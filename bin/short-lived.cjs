// @ts-check
// Preloaded into the processes of tests (cli/test-runner/short-lived.ts). What is compiled to WebAssembly, above all the
// embedded database, stays as the fast compiler of V8 makes it: the slow one takes longer than a test lives to pay off.
'use strict';
const { setFlagsFromString } = require('node:v8');

for (const flag of ['--liftoff', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
