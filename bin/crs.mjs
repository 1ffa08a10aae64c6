// @ts-check
// Fetches the rule set (cli/rule-set/) and says where it is: `node bin/crs.mjs`.
import { loadBuilt } from './built.mjs';

/** @type {typeof import('../cli/commands/crs.js')} */
const { runCrs } = await loadBuilt('cli/commands/crs.js', 'crs');
process.exitCode = await runCrs();
