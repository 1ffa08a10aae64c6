// Options of Node.js for processes that live for seconds, as those of tests do: `node bin/test.mjs` needs a sixth less
// of the processors with them (tests of imports, accounts, upgrades and of the whole product; the same code runs, but
// is compiled otherwise and collected later).
import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Bytes. Some twenty processes at a time keep up to three young halves of a heap each. */
const roomyMin = 8e9;
const preloaded = fileURLToPath(new URL('../../../bin/short-lived.cjs', import.meta.url));

/** For tests that start Node.js with an environment of their own; without what changes the heap of a product. */
export const shortLivedVariable = 'GATEHOUSE_TEST_NODE_OPTIONS';

/** Tests of heaps need the usual ones, and so do workers of a data plane, whose heaps have limits. */
const isOfHeaps = /heap|memoryUsage|resourceLimits|startPlane|data-plane|worker-pool|crash/i;

/** Value of NODE_OPTIONS for what tests start. */
export const preload = `--require ${JSON.stringify(preloaded)}`;

/** Value of NODE_OPTIONS for tests with these texts, on a machine with so much memory. */
export const shortLivedOptions = (texts: readonly string[], memoryBytes = totalmem()): string =>
  memoryBytes < roomyMin || texts.some((text) => isOfHeaps.test(text))
    ? preload
    : `--max-semi-space-size=64 ${preload}`;
