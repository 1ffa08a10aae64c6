// What a scan has found, and what it has not looked at.
import type { Finding, FoundPackage, NotScanned, Scanner } from '../contract.js';

/** What one scanner did. */
export interface ScannerResult {
  readonly scanner: Scanner;
  readonly findings: readonly Finding[];
  readonly packages: readonly FoundPackage[];
  /** Paths that it read to their end. */
  readonly scanned: readonly string[];
  readonly notScanned: readonly NotScanned[];
  /** Also of those that `notScanned` has no room for. */
  readonly notScannedByReason: Readonly<Record<string, number>>;
  /** Those of the reasons that are faults. */
  readonly faultReasons: readonly string[];
  /** No fault: everything that it wants was read. */
  readonly complete: boolean;
}

export interface ScanResult {
  readonly files: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly results: readonly ScannerResult[];
  /** Somebody stopped it, or its time was over: then nothing is complete. */
  readonly stopped: string | null;
}
