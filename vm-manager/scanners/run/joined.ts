// Results of several scans as one: of the files of a directory, and of each image beside them.
import type { MatchedAdvisory, ScannerResult, ScanResult } from './result.js';

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** `at` is what paths of the result begin with from now on. */
export function below(at: string, result: ScanResult, shown = (path: string): string => path): ScanResult {
  const named = <T extends { readonly path: string }>(one: T): T => ({ ...one, path: `${at}${shown(one.path)}` });
  return {
    ...result,
    results: result.results.map((one) => ({
      ...one,
      findings: one.findings.map(named),
      packages: one.packages.map(named),
      notScanned: one.notScanned.map(named),
      scanned: one.scanned.map((path) => `${at}${shown(path)}`),
      lookedAt: one.lookedAt.map((path) => `${at}${shown(path)}`),
    })),
  };
}

function counted(results: readonly ScannerResult[]): Record<string, number> {
  const by: Record<string, number> = {};
  for (const { notScannedByReason } of results)
    for (const [reason, count] of Object.entries(notScannedByReason)) by[reason] = (by[reason] ?? 0) + count;
  return by;
}

const distinct = (all: readonly string[]): readonly string[] => [...new Set(all)].sort(compare);

/** Of one scanner, at least one; they have the rules of all. */
function joinOne(results: readonly ScannerResult[]): ScannerResult {
  const [first] = results;
  if (first === undefined || results.length === 1) return first as ScannerResult;
  const advisories = results.some((one) => one.advisories !== undefined)
    ? new Map<string, MatchedAdvisory>(results.flatMap((one) => one.advisories ?? []).map((one) => [one.id, one]))
    : null;
  return {
    scanner: first.scanner,
    findings: results
      .flatMap((one) => one.findings)
      .sort(
        (left, right) => compare(left.path, right.path) || left.line - right.line || compare(left.rule, right.rule),
      ),
    packages: results.flatMap((one) => one.packages),
    objects: results.flatMap((one) => one.objects),
    ...(advisories === null ? {} : { advisories: [...advisories.values()] }),
    scanned: distinct(results.flatMap((one) => one.scanned)),
    lookedAt: distinct(results.flatMap((one) => one.lookedAt)),
    notScanned: results.flatMap((one) => one.notScanned),
    notScannedByReason: counted(results),
    faultReasons: distinct(results.flatMap((one) => one.faultReasons)),
    complete: results.every((one) => one.complete),
  };
}

/** Each scanner once. What was compared with advisories goes in before, or not at all. */
export function joined(all: readonly ScanResult[]): ScanResult {
  const kinds = [...new Set(all.flatMap(({ results }) => results.map(({ scanner }) => scanner.kind)))];
  const sum = (of: (one: ScanResult) => number): number => all.reduce((total, one) => total + of(one), 0);
  return {
    files: sum(({ files }) => files),
    bytes: sum(({ bytes }) => bytes),
    seconds: sum(({ seconds }) => seconds),
    results: kinds.map((kind) =>
      joinOne(all.flatMap(({ results }) => results.filter(({ scanner }) => scanner.kind === kind))),
    ),
    stopped: all.find(({ stopped }) => stopped !== null)?.stopped ?? null,
  };
}
