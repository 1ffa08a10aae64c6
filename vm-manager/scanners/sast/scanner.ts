// The scanner of source code as the catalogue has it.
import type { Scanner } from '../contract.js';
import { wantsSource } from './files.js';
import { sastRules } from './rules/index.js';

export const sastScanner: Scanner = {
  kind: 'sast',
  tool: 'gatehouse-sast',
  label: 'Source code',
  rules: sastRules,
  joinsFiles: false,
  fileBytesMax: 1024 * 1024,
  wants: wantsSource,
  createEngine: async () => (await import('./engine.js')).sastEngine,
};
