// The real rule set for tests: the server's own way of finding it, in this checkout.
import { fileURLToPath } from 'node:url';
import { findRuleSet } from '../rules/rule-set-directory.js';

/** What set-up fetches, and the cache of compiled automata. */
// from build/api/testing
export const dataDirectory = process.env['GATEHOUSE_DATA'] ?? fileURLToPath(new URL('../../../data', import.meta.url));

/** Its directory; null when there is none, and why tests that need it are skipped then. */
export const coreRules = await findRuleSet({ dataDirectory, crsDirectory: process.env['CRS_DIR'] || null });
export const withoutCoreRules =
  coreRules === null ? 'there is no rule set: run node bin/crs.mjs or set CRS_DIR' : false;
