// The scanner of images as the catalogue has it. Its source is an archive of an image (image-source.ts).
import type { Scanner } from '../contract.js';
import { asRule } from '../iac/rule.js';
import { toCyclonedx } from '../report/cyclonedx.js';
import { secretsScanner } from '../secrets/scanner.js';
import { matters } from './files.js';
import { databaseOf } from './packages/places.js';
import { summaryPath, unmarked } from './image-source.js';
import { imageRules } from './rules.js';

export const imageScanner: Scanner = {
  kind: 'container',
  tool: 'gatehouse-containers',
  label: 'Images',
  rules: [...imageRules.map(asRule), ...secretsScanner.rules],
  joinsFiles: true,
  joins: (path) => databaseOf(unmarked(path).path) !== null,
  fileBytesMax: 64 * 1024 * 1024,
  wants: (path) => path === summaryPath || matters(unmarked(path).path),
  createEngine: async () => new (await import('./engine.js')).ImageEngine(),
  toReport: toCyclonedx,
  alsoSarif: true,
};
