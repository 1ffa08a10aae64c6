// What a scan has found, and what it has not looked at.
import type { Severity } from '../../findings/words.js';
import type { ClusterObject, Finding, FoundPackage, NotScanned, Scanner } from '../contract.js';

/** An advisory, and the packages that it is true of. */
export interface MatchedAdvisory {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly severity: Severity;
  readonly summary: string;
  readonly cwes: readonly number[];
  readonly purls: readonly string[];
  readonly fixed: readonly string[];
}

/** What one scanner did. */
export interface ScannerResult {
  readonly scanner: Scanner;
  readonly findings: readonly Finding[];
  readonly packages: readonly FoundPackage[];
  /** Of a scan of manifests: who may do what in the cluster, and what runs. */
  readonly objects: readonly ClusterObject[];
  /** Of what its packages were compared with; absent: with nothing. */
  readonly advisories?: readonly MatchedAdvisory[];
  /** Paths that it read to their end. */
  readonly scanned: readonly string[];
  /**
   * Files that were in the source, were for this scanner and were not left out: what it does not find in them is not
   * there. Without those that mean something beside others only.
   */
  readonly lookedAt: readonly string[];
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
  /** It was stopped, or its time was over: then nothing is complete. */
  readonly stopped: string | null;
}
