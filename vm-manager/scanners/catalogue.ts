// Every scanner there is. A new one is one line here.
import type { ScanKind, Scanner } from './contract.js';
import { iacScanner } from './iac/scanner.js';
import { k8sScanner } from './k8s/scanner.js';
import { sastScanner } from './sast/scanner.js';
import { scaScanner } from './sca/scanner.js';
import { secretsScanner } from './secrets/scanner.js';

export const scanners: readonly Scanner[] = [secretsScanner, sastScanner, scaScanner, iacScanner, k8sScanner];

/** Throws for a kind that no scanner has. */
export function scannerOf(kind: string): Scanner {
  const found = scanners.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`there is no scanner "${kind}"`);
  return found;
}

export const offeredKinds: readonly ScanKind[] = scanners.map(({ kind }) => kind);
