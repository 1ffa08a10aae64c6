// The scanner of packages as the catalogue has it. Its rules are the advisories, which an installation imports.
import type { Scanner } from '../contract.js';
import { toCyclonedx } from '../report/cyclonedx.js';
import { isPom, manifestOf, readerOf } from './files.js';

export const scaScanner: Scanner = {
  kind: 'sca',
  tool: 'gatehouse-sca',
  label: 'Packages',
  rules: [],
  joinsFiles: true,
  joins: () => true,
  fileBytesMax: 32 * 1024 * 1024,
  wants: (path) => readerOf(path) !== null || isPom(path) || manifestOf(path) !== null,
  createEngine: async () => new (await import('./engine.js')).ScaEngine(),
  toReport: toCyclonedx,
};
