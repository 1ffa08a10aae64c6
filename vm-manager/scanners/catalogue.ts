// Every scanner there is. A new one is one line here; that of images is apart, since its source is none of files.
import { fileKinds, type FileKind, type Scanner } from './contract.js';
import { imageScanner } from './containers/scanner.js';
import { iacScanner } from './iac/scanner.js';
import { k8sScanner } from './k8s/scanner.js';
import { sastScanner } from './sast/scanner.js';
import { scaScanner } from './sca/scanner.js';
import { secretsScanner } from './secrets/scanner.js';

export type FileScanner = Scanner & { readonly kind: FileKind };

const all: readonly Scanner[] = [secretsScanner, sastScanner, scaScanner, iacScanner, k8sScanner, imageScanner];
const isOfFiles = (one: Scanner): one is FileScanner => (fileKinds as readonly string[]).includes(one.kind);
export const scanners: readonly FileScanner[] = all.filter(isOfFiles);

/** Throws for a kind that no scanner has. */
export function scannerOf(kind: string): Scanner {
  const found = all.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`there is no scanner "${kind}"`);
  return found;
}

export const offeredKinds: readonly FileKind[] = scanners.map(({ kind }) => kind);
