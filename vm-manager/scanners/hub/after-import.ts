// What follows the import of a scan: the components of a bill are matched with the advisories at once.
import type { Call } from '../../kit/endpoint.js';
import type { Scanner } from '../contract.js';
import type { ScanResult } from '../run/result.js';

/** What it adds to the result of the run. */
export const afterImport = async (
  _call: Call,
  _scanner: Scanner,
  _applicationId: string,
  _scanned: ScanResult,
): Promise<Readonly<Record<string, unknown>>> => ({});
