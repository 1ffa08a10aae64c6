// The door `#vm-manager/chains`: the chain engine without a database, for the benchmark. The room itself takes its
// parts by path.
export { ChainEngine } from './engine.js';
export type { ChainApplication, ChainFinding } from './finding.js';
export { rankFixes } from './fix-ranking.js';
export { chainsAnswer } from './present.js';
