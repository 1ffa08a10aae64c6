// `gatehouse scan`: the scanners of the vulnerability manager without a server, over directories, archives, images,
// bills and files. Exit codes as of the gate: 0 nothing at or above --fail-on, 1 something, 2 unknown (a file was not
// read, nothing was looked at, wrong usage): a pipeline never takes "not looked" for "clean".
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  applyBaseline,
  baselineOf,
  below,
  failing,
  FileMemory,
  imageSource,
  joined,
  readBaseline,
  readSets,
  scan,
  scannerOf,
  scanRemembered,
  SourceError,
  unmarked,
  withAdvisories,
  type Baseline,
  type Progress,
  type ScanResult,
} from '#vm-manager/scanners';
import { pathRefusal, Refusal, withFiles, wrongUsage } from '../../../refusal.js';
import { readOptions, requireFitting, usage, wantedBy, writers } from './options.js';
import type { Severity, Values, Wanted } from './options.js';
import { askGate, upload } from './send.js';
import { extentOf, isBill, sourceOf, targetsOf, type Target } from './targets.js';

const tell = ({ files, bytes }: Progress): void => {
  if (process.stderr.isTTY) process.stderr.write(`\rscan: ${files} files, ${(bytes / 1e6).toFixed(0)} MB\u001b[K`);
};

/** What earlier scans of these directories have found; null: it is not wanted, or has no place. */
function memoryOf(targets: readonly Target[], values: Values): FileMemory | null {
  if (values['no-cache']) return null;
  const roots = targets.filter(({ kind }) => kind === 'directory').map(({ path, at }) => `${realpathSync(path)} ${at}`);
  return new FileMemory(values.cache ?? join(homedir(), '.cache', 'gatehouse', 'scan'), roots.join('\n'), new Date());
}

function writeMemory(memory: FileMemory): void {
  try {
    memory.write();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.error(`scan: what was found cannot be kept for the next scan (${why}); --no-cache asks for none`);
  }
}

async function scanDirectories(
  targets: readonly Target[],
  kinds: readonly string[],
  values: Values,
  stop: AbortSignal,
) {
  const source = sourceOf(targets, 'directory');
  if (source === null || kinds.length === 0) return [];
  const memory = memoryOf(targets, values);
  const scanners = kinds.map(scannerOf);
  if (memory === null) return [await scan(source, scanners, tell, stop)];
  const result = await scanRemembered(source, scanners, tell, stop, memory);
  if (result.stopped === null) writeMemory(memory);
  return [result];
}

/** Throws Refusal for what cannot be read as a source. */
async function scanTargets(targets: readonly Target[], { kinds, images }: Wanted, values: Values, stop: AbortSignal) {
  const results: ScanResult[] = [];
  try {
    results.push(...(await scanDirectories(targets, kinds, values, stop)));
    const files = sourceOf(targets, 'files');
    if (files !== null && kinds.length > 0) results.push(await scan(files, kinds.map(scannerOf), tell, stop));
    for (const one of targets) {
      if (one.kind !== 'image' || stop.aborted) continue;
      if (!images) throw wrongUsage(`${one.path} is an image: add containers to --only`);
      const found = await scan(imageSource(one.path, one.layout), [scannerOf('container')], tell, stop);
      results.push(below(one.at, found, (path) => unmarked(path).path));
    }
  } catch (error) {
    if (error instanceof SourceError) throw new Refusal(`${targets[0]?.path ?? '.'}: ${error.message}`, 2);
    throw pathRefusal(error) ?? error;
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  if (results.length === 0) throw wrongUsage('--only containers looks at images, and none is named');
  return joined(results);
}

const hasPackages = ({ scanner }: ScanResult['results'][number]): boolean =>
  scanner.kind === 'sca' || scanner.kind === 'container';

/** With the packages compared, or marked as compared with nothing. */
async function compared(result: ScanResult, { advisories, format }: Values): Promise<ScanResult> {
  if (!result.results.some(hasPackages)) return result;
  if (advisories === undefined) {
    if (format === 'cyclonedx') return result;
    const reason = 'packages that were compared with no advisories: name a folder of OSV sets with --advisories';
    return withFault(result, reason);
  }
  try {
    const sets = await readSets(advisories);
    if (sets.byId.size === 0) throw new Refusal(`--advisories ${advisories}: there is no advisory in this folder`, 2);
    return { ...result, results: result.results.map((one) => (hasPackages(one) ? withAdvisories(one, sets) : one)) };
  } catch (error) {
    throw pathRefusal(error) ?? error;
  }
}

function withFault(result: ScanResult, reason: string): ScanResult {
  const results = result.results.map((one) =>
    !hasPackages(one) || one.packages.length === 0
      ? one
      : {
          ...one,
          complete: false,
          faultReasons: [...one.faultReasons, reason],
          notScanned: [...one.notScanned, { path: 'all packages', reason, isFault: true }],
          notScannedByReason: { ...one.notScannedByReason, [reason]: one.packages.length },
        },
  );
  return { ...result, results };
}

/** 0 none at or above it, 1 some, 2 unknown. */
function exitCodeOf(result: ScanResult, from: string): number {
  if (from !== 'never' && failing(result, from as Severity).length > 0) return 1;
  const isWhole = result.stopped === null && result.results.every(({ complete }) => complete);
  return isWhole ? 0 : 2;
}

function baselineAt(file: string): Baseline {
  try {
    return readBaseline(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw pathRefusal(error) ?? new Refusal(`--baseline ${file}: ${why}`, 2);
  }
}

/** The result with what the baseline knows set aside; a new baseline is written of what is found. */
function besideBaseline(result: ScanResult, values: Values): ScanResult {
  const { baseline, 'write-baseline': written } = values;
  const before = baseline === undefined ? null : baselineAt(baseline);
  if (written !== undefined) {
    const known = before ?? (existsSync(written) ? baselineAt(written) : null);
    const text = baselineOf(result, known);
    withFiles(() => writeFileSync(written, text));
    return applyBaseline(result, readBaseline(text)).result;
  }
  if (before === null) return result;
  const { result: made, known, gone } = applyBaseline(result, before);
  console.error(
    `scan: ${known} findings are known by the baseline` +
      (gone === 0 ? '' : `; ${gone} of it are no longer found: write it anew with --write-baseline`),
  );
  return made;
}

/** Resolves with 0, 1 or 2; rejects with Refusals of the exit code 2 only. */
export async function runScan(argv: readonly string[]): Promise<number> {
  try {
    return await run(argv);
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(error.message, 2);
    console.error(error);
    return 2;
  }
}

async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions(argv);
  if (values.help) {
    console.log(usage);
    return 0;
  }
  requireFitting(values);
  const { output } = values;
  const paths = positionals.length === 0 ? ['.'] : [...new Set(positionals)];
  if (output !== undefined && statSync(output, { throwIfNoEntry: false })?.isDirectory() === true)
    throw wrongUsage(`-o ${output}: is a directory; name a file`);
  const covers = extentOf(paths, values.covers);
  const wanted = wantedBy(values, (await Promise.all(paths.map(isBill))).some(Boolean));
  const stop = new AbortController();
  const onStop = (): void => stop.abort();
  process.once('SIGINT', onStop);
  try {
    const targets = await targetsOf(paths, values.all);
    if (values.only === undefined && !wanted.kinds.includes('sca') && targets.some(({ kind }) => kind !== 'image'))
      console.error('scan: packages are not looked at; --advisories names a folder of OSV sets to compare them with');
    const found = await compared(await scanTargets(targets, wanted, values, stop.signal), values);
    const result = besideBaseline(found, values);
    const text = writers[values.format]?.(result, covers) ?? '';
    if (output === undefined) console.log(text);
    else withFiles(() => writeFileSync(output, `${text}\n`));
    if (values.upload) await upload(result, covers, values, paths[0] ?? '.');
    if (!values.gate) return exitCodeOf(result, values['fail-on']);
    if (covers === 'part')
      console.error('scan: this is a part: findings in files that are not in it stay open; --covers whole closes them');
    return await askGate(result, covers, values);
  } finally {
    process.off('SIGINT', onStop);
  }
}
