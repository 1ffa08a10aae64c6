// A scan that reads again only what has changed: what a scanner said of a file is kept by the SHA-256 of the file and
// the scanner's own version. A scanner that reads files beside each other is asked again where one of its files
// differs.
import { createHash } from 'node:crypto';
import type { Finding, FoundPackage, NotScanned, Outcome, Scanner } from '../contract.js';
import { together } from '../contract.js';
import { isPassed, type Source, type SourceFile, type SourceItem } from '../sources/source.js';
import { joined } from './joined.js';
import type { ScannerResult, ScanResult } from './result.js';
import { scan, type Progress, type ScanLimits, scanLimits } from './scan.js';

/** Where it is kept; `key` is a SHA-256. */
export interface Memory {
  recall(key: string, path: string): Outcome | null;
  keep(key: string, outcome: Outcome, path: string): void;
  /** SHA-256 of a file that has not changed since it was read; null: it has to be read. */
  sumOf(file: SourceFile): string | null;
  keepSum(file: SourceFile, sum: string): void;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const keyOf = (kind: string, path: string, sum: string): string => hash(`${kind}\n${path}\n${sum}`);

interface Seen {
  /** Path → its key, of those that are new. */
  readonly fresh: Map<string, string>;
  /** Of those that were recalled. */
  readonly known: Map<string, Outcome>;
  /** Path and sum of each file. */
  readonly all: string[];
}

/** The sum of a file; null: it cannot be read, which the scan itself will say. */
async function sumOf(file: SourceFile, memory: Memory): Promise<string | null> {
  const known = memory.sumOf(file);
  if (known !== null) return known;
  try {
    const sum = createHash('sha256')
      .update(await file.read())
      .digest('hex');
    memory.keepSum(file, sum);
    return sum;
  } catch {
    return null;
  }
}

/** What of the source is known. */
async function look(source: Source, scanners: readonly Scanner[], memory: Memory, signal: AbortSignal) {
  const seen = new Map<Scanner, Seen>(scanners.map((one) => [one, { fresh: new Map(), known: new Map(), all: [] }]));
  const items: SourceItem[] = [];
  for await (const item of source.items(signal)) {
    items.push(item);
    if (isPassed(item)) continue;
    const wanting = scanners.filter((one) => item.bytes <= one.fileBytesMax && one.wants(item.path) === true);
    const sum = wanting.length === 0 ? null : await sumOf(item, memory);
    if (sum === null) continue;
    for (const scanner of wanting) {
      const own = seen.get(scanner);
      if (own === undefined) continue;
      own.all.push(`${item.path}\n${sum}`);
      const key = keyOf(scanner.kind, item.path, sum);
      const outcome = scanner.joinsFiles ? null : memory.recall(key, item.path);
      if (outcome === null) own.fresh.set(item.path, key);
      else own.known.set(item.path, outcome);
    }
  }
  return { seen, items };
}

const byPath = <T extends { readonly path: string }>(all: readonly T[]): Map<string, T[]> => {
  const found = new Map<string, T[]>();
  for (const one of all) {
    const own = found.get(one.path);
    if (own === undefined) found.set(one.path, [one]);
    else own.push(one);
  }
  return found;
};

/** What has to do with this run alone is not kept: a time that was over, a file that could not be read. */
const isLasting = (notScanned: readonly NotScanned[]): boolean =>
  notScanned.every(({ isFault, isOfRun }) => !isFault || isOfRun !== true);

function keepEach(result: ScannerResult, { fresh }: Seen, memory: Memory): void {
  const findings = byPath<Finding>(result.findings);
  const packages = byPath<FoundPackage>(result.packages);
  const notScanned = byPath<NotScanned>(result.notScanned);
  const scanned = new Set(result.scanned);
  for (const [path, key] of fresh) {
    const passed = notScanned.get(path) ?? [];
    // neither read nor passed: its reason had no room in the list
    if (!isLasting(passed) || (passed.length === 0 && !scanned.has(path))) continue;
    memory.keep(
      key,
      {
        findings: findings.get(path) ?? [],
        packages: packages.get(path) ?? [],
        notScanned: passed,
        scanned: scanned.has(path) ? [path] : [],
      },
      path,
    );
  }
}

const keyOfAll = (scanner: Scanner, { all }: Seen): string => keyOf(scanner.kind, '', hash([...all].sort().join('\n')));

/** What of the result is from the engine: what the source itself left out comes again with the next run. */
function keepAll(scanner: Scanner, result: ScannerResult, seen: Seen, memory: Memory): void {
  const own = result.notScanned.filter(({ isOfEngine }) => isOfEngine === true);
  const total = Object.values(result.notScannedByReason).reduce((sum, count) => sum + count, 0);
  if (!isLasting(result.notScanned) || total > result.notScanned.length) return;
  const { findings, packages, scanned, objects } = result;
  memory.keep(keyOfAll(scanner, seen), { findings, packages, scanned, objects, notScanned: own }, '');
}

/** A result as if the scanner had read these files now. */
function asResult(scanner: Scanner, outcome: Outcome, paths: readonly string[]): ScannerResult {
  const { findings, packages, notScanned, scanned, objects = [] } = outcome;
  const by: Record<string, number> = {};
  for (const { reason } of notScanned) by[reason] = (by[reason] ?? 0) + 1;
  const passed = new Set(notScanned.map(({ path }) => path));
  const faultReasons = [...new Set(notScanned.filter(({ isFault }) => isFault).map(({ reason }) => reason))];
  return {
    ...{ scanner, findings, packages, objects, scanned, notScanned, notScannedByReason: by, faultReasons },
    lookedAt: paths.filter((path) => scanner.joins?.(path) !== true && !passed.has(path)),
    complete: faultReasons.length === 0,
  };
}

/** Files of a directory can be read later, too. */
const held = (source: Source, items: readonly SourceItem[]): Source => ({
  ...source,
  total: items.length,
  async *items(signal) {
    for (const item of items) {
      if (signal.aborted) return;
      yield item;
    }
  },
});

/** Like `scan`, of a source whose files can be read at any time: a directory. */
export async function scanRemembered(
  source: Source,
  scanners: readonly Scanner[],
  progress: (at: Progress) => void,
  signal: AbortSignal,
  memory: Memory,
  limits: ScanLimits = scanLimits,
): Promise<ScanResult> {
  const began = performance.now();
  const { seen, items } = await look(source, scanners, memory, signal);
  const whole = new Map<Scanner, Outcome>();
  for (const [scanner, own] of seen) {
    const outcome = scanner.joinsFiles ? memory.recall(keyOfAll(scanner, own), '') : null;
    if (outcome !== null) whole.set(scanner, outcome);
  }
  // a scanner wants no file that it is remembered for; what the source passes is told as ever
  const narrowed = scanners.map(
    (scanner): Scanner => ({
      ...scanner,
      wants: (path) => {
        const wanted = scanner.wants(path);
        const isKnown = whole.has(scanner) ? seen.get(scanner)?.fresh.has(path) : seen.get(scanner)?.known.has(path);
        return wanted === true && isKnown === true ? false : wanted;
      },
    }),
  );
  const result = await scan(held(source, items), narrowed, progress, signal, limits);
  const results = result.results.map((made, at): ScannerResult => {
    const scanner = scanners[at] ?? made.scanner;
    const own = seen.get(scanner);
    const fresh = { ...made, scanner };
    if (own === undefined || result.stopped !== null) return fresh;
    const outcome = whole.get(scanner) ?? together([...own.known.values()]);
    if (!scanner.joinsFiles) keepEach(fresh, own, memory);
    else if (!whole.has(scanner)) keepAll(scanner, fresh, own, memory);
    const known = whole.has(scanner) ? [...own.fresh.keys()] : [...own.known.keys()];
    const both = joined(
      [result, result].map((one, n) => ({
        ...one,
        results: [n === 0 ? fresh : asResult(scanner, outcome, known)],
      })),
    );
    return both.results[0] ?? fresh;
  });
  return { ...result, results, seconds: (performance.now() - began) / 1000 };
}
