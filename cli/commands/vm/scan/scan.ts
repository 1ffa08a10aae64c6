// `gatehouse scan`: the scanners of the vulnerability manager without a server, over a directory, an archive or a file.
// Exit codes as of the gate: 0 nothing at or above --fail-on, 1 something, 2 unknown (a file was not read, nothing was
// looked at, wrong usage): a pipeline never takes "not looked" for "clean".
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync, type Stats } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import {
  failing,
  offeredKinds,
  openSource,
  readSets,
  scan,
  scannerOf,
  SourceError,
  toCyclonedx,
  toJson,
  toJunit,
  toMarkdown,
  toSarif,
  toTable,
  withAdvisories,
  extents,
  type Extent,
  type ScanResult,
} from '#vm-manager/scanners';
import { parseOptions } from '../../../command-line.js';
import { isSystemError, pathRefusal, Refusal, unreadable, withFiles, wrongUsage } from '../../../refusal.js';

const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
type Severity = (typeof severities)[number];

const writers: Readonly<Record<string, (result: ScanResult, covers: Extent) => string>> = {
  table: toTable,
  markdown: toMarkdown,
  junit: toJunit,
  json: (result) => JSON.stringify(toJson(result), null, 2),
  cyclonedx: (result) => JSON.stringify(toCyclonedx(result), null, 1),
  sarif: (result, covers) => JSON.stringify(toSarif(result, covers), null, 1),
};

const usage = [
  'Usage: gatehouse scan [DIRECTORY|ARCHIVE|FILE] [--only KIND,…] [--format FORMAT] [-o FILE] [--fail-on SEVERITY]',
  '                      [--covers whole|part] [--advisories DIRECTORY]',
  '                      [--gate --application ID --commit HASH [--branch NAME]]',
  '',
  '  DIRECTORY      default: here; an archive is tar, tar.gz, tar.zst or zip, and is not unpacked to the disk',
  `  --only         ${offeredKinds.join(', ')}; default: all, sca only with --advisories`,
  `  --format       ${Object.keys(writers).join(', ')}; default: table`,
  '  -o             file for the report; default: standard output',
  '  --fail-on      critical, high, medium, low, info or never; default: high',
  '  --covers       whole: with --gate (or a SARIF that is imported), findings in files that are gone are closed;',
  '                 part: only those in files that were looked at. Default: whole for a directory, unless it lies',
  '                 within a checkout (.git, .hg, .svn above it); part for an archive and a file',
  '  --advisories   folder of OSV sets (JSON, lines of JSON, zip) that packages are compared with',
  '  --gate         sends the findings to the server and ends with the verdict of its gate (see `gatehouse gate`)',
  '',
  'A line with `gatehouse:ignore RULE reason` sets the finding of that line, or of the next one, aside.',
  'Exit codes: 0 nothing at or above --fail-on, 1 something, 2 something was not read, or nothing could be looked at.',
].join('\n');

function readOptions(argv: readonly string[]) {
  return parseOptions({
    args: [...argv],
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      format: { type: 'string', default: 'table' },
      output: { type: 'string', short: 'o' },
      'fail-on': { type: 'string', default: 'high' },
      gate: { type: 'boolean', default: false },
      application: { type: 'string' },
      commit: { type: 'string' },
      branch: { type: 'string' },
      advisories: { type: 'string' },
      covers: { type: 'string' },
      url: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
}

type Values = ReturnType<typeof readOptions>['values'];

/** Packages alone show no weakness: without advisories they are listed when `--only sca` or CycloneDX asks for them. */
const kindsOf = ({ only, advisories, format }: Values): readonly string[] => {
  if (only === undefined && format === 'cyclonedx') return ['sca'];
  const wanted =
    only === undefined
      ? offeredKinds.filter((kind) => kind !== 'sca' || advisories !== undefined)
      : only.split(',').map((one) => one.trim());
  for (const one of wanted)
    if (!offeredKinds.some((kind) => kind === one))
      throw wrongUsage(`--only ${one}: there is no such scanner; there are ${offeredKinds.join(', ')}`);
  return [...new Set(wanted)];
};

/** Throws Refusal for what is not there or cannot be read as a source. */
async function scanPath(path: string, kinds: readonly string[], signal: AbortSignal): Promise<ScanResult> {
  try {
    const source = await openSource(resolve(path), basename(resolve(path)));
    const tell = process.stderr.isTTY
      ? ({ files, bytes }: { files: number; bytes: number }) =>
          process.stderr.write(`\rscan: ${files} files, ${(bytes / 1e6).toFixed(0)} MB\u001b[K`)
      : () => undefined;
    const result = await scan(source, kinds.map(scannerOf), tell, signal);
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
    return result;
  } catch (error) {
    if (error instanceof SourceError) throw new Refusal(`${path}: ${error.message}`, 2);
    throw pathRefusal(error) ?? error;
  }
}

/** With the packages compared, or marked as compared with nothing. */
async function compared(result: ScanResult, { advisories, format }: Values): Promise<ScanResult> {
  if (!result.results.some(({ scanner }) => scanner.kind === 'sca')) return result;
  if (advisories === undefined) {
    if (format === 'cyclonedx') return result;
    const reason = 'packages that were compared with no advisories: name a folder of OSV sets with --advisories';
    return withFault(result, reason);
  }
  try {
    const sets = await readSets(advisories);
    if (sets.byId.size === 0) throw new Refusal(`--advisories ${advisories}: there is no advisory in this folder`, 2);
    const results = result.results.map((one) => (one.scanner.kind === 'sca' ? withAdvisories(one, sets) : one));
    return { ...result, results };
  } catch (error) {
    throw pathRefusal(error) ?? error;
  }
}

function withFault(result: ScanResult, reason: string): ScanResult {
  const results = result.results.map((one) =>
    one.scanner.kind !== 'sca' || one.packages.length === 0
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

/** Whether a directory above this one is a checkout: then this is a part of it. */
function isWithinCheckout(directory: string): boolean {
  if (['.git', '.hg', '.svn'].some((name) => existsSync(join(directory, name)))) return false;
  for (let above = dirname(directory), below = directory; above !== below; [below, above] = [above, dirname(above)])
    if (['.git', '.hg', '.svn'].some((name) => existsSync(join(above, name)))) return true;
  return false;
}

function kindOf(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw isSystemError(error) ? unreadable(path, error, 'or start it as its owner', 2) : error;
  }
}

/** What is said, else what the path is; a file, and an archive of nobody knows what, is a part. */
function extentOf(path: string, given: string | undefined): Extent {
  const isDirectory = kindOf(path).isDirectory();
  if (given === undefined) return isDirectory && !isWithinCheckout(realpathSync(path)) ? 'whole' : 'part';
  const found = extents.find((one) => one === given);
  if (found === undefined) throw wrongUsage(`--covers ${given}: choose one of ${extents.join(', ')}`);
  return found;
}

/** The gate of the server over what was found. */
async function askGate(result: ScanResult, covers: Extent, values: Values): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-scan-'));
  try {
    const report = join(directory, 'scan.sarif');
    writeFileSync(report, JSON.stringify(toSarif(result, covers)));
    const { runGate } = await import('../gate.js');
    const named = (['application', 'commit', 'branch', 'url'] as const).flatMap((name) =>
      values[name] === undefined ? [] : [`--${name}`, values[name]],
    );
    const bill = join(directory, 'packages.cdx.json');
    const hasPackages = result.results.some(({ packages }) => packages.length > 0);
    if (hasPackages) writeFileSync(bill, JSON.stringify(toCyclonedx(result)));
    // components do not say which file they are of: of a part the bill closes none
    const bills = hasPackages ? [covers === 'whole' ? '--report' : '--report-of-part', bill] : [];
    return await runGate([...named, '--report', report, ...bills]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
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
  const { format, output, 'fail-on': failOn } = values;
  const write = writers[format];
  if (write === undefined) throw wrongUsage(`--format ${format}: choose one of ${Object.keys(writers).join(', ')}`);
  if (failOn !== 'never' && !severities.some((one) => one === failOn))
    throw wrongUsage(`--fail-on ${failOn}: choose one of ${severities.join(', ')}, never`);
  if (positionals.length > 1) throw wrongUsage(`scan takes one path; not ${positionals.join(' ')}`);
  if (values.gate && (values.application === undefined || values.commit === undefined))
    throw wrongUsage('--gate needs --application ID and --commit HASH');
  const path = positionals[0] ?? '.';
  if (output !== undefined && statSync(output, { throwIfNoEntry: false })?.isDirectory() === true)
    throw wrongUsage(`-o ${output}: is a directory; name a file`);
  const covers = extentOf(path, values.covers);
  const stop = new AbortController();
  const onStop = (): void => stop.abort();
  process.once('SIGINT', onStop);
  try {
    const kinds = kindsOf(values);
    if (values.only === undefined && !kinds.includes('sca'))
      console.error('scan: packages are not looked at; --advisories names a folder of OSV sets to compare them with');
    const result = await compared(await scanPath(path, kinds, stop.signal), values);
    const text = write(result, covers);
    if (output === undefined) console.log(text);
    else withFiles(() => writeFileSync(output, `${text}\n`));
    if (!values.gate) return exitCodeOf(result, failOn);
    if (covers === 'part')
      console.error('scan: this is a part: findings in files that are not in it stay open; --covers whole closes them');
    return await askGate(result, covers, values);
  } finally {
    process.off('SIGINT', onStop);
  }
}
