// The door `#vm-manager/scanners`: scanners without a server, for the command line.
export { offeredKinds, scannerOf, scanners } from './catalogue.js';
export { extents } from './contract.js';
export type * from './contract.js';
export type { ScannerResult, ScanResult } from './run/result.js';
export { scan, scanLimits, type Progress, type ScanLimits } from './run/scan.js';
export { openSource } from './sources/open.js';
export { SourceError, type Source } from './sources/source.js';
export { readSets, withAdvisories } from './sca/advisories.js';
export { toCyclonedx } from './report/cyclonedx.js';
export { toSarif } from './report/sarif.js';
export { failing, toJson, toJunit, toMarkdown, toTable } from './report/people.js';
