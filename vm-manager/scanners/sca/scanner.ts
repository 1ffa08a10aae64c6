// The scanner of packages as the catalogue has it. Its rules are the advisories, which an installation imports.
import type { Scanner } from '../contract.js';
import { toCyclonedx } from '../report/cyclonedx.js';
import { isOfFileSystem } from './file-systems.js';
import { isNamedBill, isPom, manifestOf, readerOf } from './files.js';

export const scaScanner: Scanner = {
  kind: 'sca',
  tool: 'gatehouse-sca',
  label: 'Packages',
  rules: [],
  joinsFiles: true,
  joins: () => true,
  // databases of packages are large
  fileBytesMax: 64 * 1024 * 1024,
  wants: (path) => readerOf(path) !== null || isPom(path) || manifestOf(path) !== null || isOfFileSystem(path),
  // a bill may have any name; one that a person has named says by what is in it whether it is one
  wantsNamed: isNamedBill,
  createEngine: async () => new (await import('./engine.js')).ScaEngine(),
  toReport: toCyclonedx,
};
