// Test files that run in one process, one after another. A small file spends most of its processor time before its
// first assertion: on starting Node.js, on tap's modules and on a thousand of ours; one that needs databases, also on a
// PostgreSQL and on an embedded database (WebAssembly that each process compiles anew). Together they spend it once.
//
// Isolation: every suite gets empty databases and an application of its own in any case; a file that touches what
// belongs to the process (environment, signals, globals, children, mocks, tap's root) or measures it stays alone, and
// so do those that start whole planes or run whole corpora. And a company that did not pass proves nothing about its
// members: each is run again, alone (run.ts).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSlow } from './selection.js';

/** More would make the last ones of a run late: a company is one processor's work. */
const companyMax = { databases: 12, others: 24 };

/** What the larger part of the time of those goes into, and is worth more than all else they could share. */
const needsDatabases = /from ["'][^"']*testing\/databases(?:\.js)?["']/;

/** What may be asked of the process without changing it, or anything depending on who else runs in it. */
const onlyAsks = [
  /\bprocess\.(?:platform|version|versions|arch|pid|getuid|execPath)\b/g,
  /(?<!delete )\bprocess\.env(?:\.[A-Z]\w*|\["\w+"\])(?!\w|\s*(?:=(?!=)|\?\?=|\|\|=))/g,
];

/** What belongs to the whole process, in the text of a built test. */
const ownsProcess = [
  /\bprocess\.(?!js\b)\w|\bprocess\[|["']node:process["']|[{(,=]\s*process\b/,
  /\bglobalThis\b|\bglobal\.|setGlobalDispatcher|stackTraceLimit|prototype\.\w+ = /,
  /node:(?:child_process|worker_threads|cluster|v8|vm|perf_hooks)|testing\/(?:processes|crashes)|\bgc\(/,
  /\b(?:t|root|tap)\.(?:mock\w*|intercept|capture\w*|plan|jobs|bailout|endAll|pragma|testdir|before|after)\b/,
  /^(?:t|root|tap)\.(?:beforeEach|afterEach|teardown|end)\b/m,
  /\b(?:startCluster|copyEmbeddedTemplate)\b|\.crash\(/,
  // a listener of native code hangs in the event loop, and what a socket sees last depends on who else is in it
  /\.contract\.js["']/,
  // tests that are awaited while the file is imported would wait for its import
  /^(?:await|for await|const .* = await)\b/m,
];

/** Whether a test file with this built text may run with others in one process. */
export function mayShare(text: string): boolean {
  const rest = onlyAsks.reduce((left, words) => left.replace(words, ''), text);
  return !ownsProcess.some((word) => word.test(rest));
}

/**
 * Files, each in exactly one company; one of one is a process of its own. Whole planes and corpora come first, then
 * what needs databases, then the small ones, else in the order given: at the end of a run, processors that have nothing
 * left to do wait for seconds, and not for the longest file.
 */
export function formCompanies(root: string, files: readonly string[]): readonly (readonly string[])[] {
  const ranks: [slow: string[][], databases: string[][], others: string[][]] = [[], [], []];
  const open: Record<keyof typeof companyMax, string[]> = { databases: [], others: [] };
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const kind = needsDatabases.test(text) ? 'databases' : 'others';
    const ranked = ranks[isSlow(file) ? 0 : kind === 'databases' ? 1 : 2];
    if (!mayShare(text) || (kind === 'others' && isSlow(file))) {
      ranked.push([file]);
      continue;
    }
    if (open[kind].length === 0 || open[kind].length === companyMax[kind]) ranked.push((open[kind] = []));
    open[kind].push(file);
  }
  return ranks.flat();
}

/** Holds, for together.ts, the files of a company as JSON. */
export const filesVariable = 'GATEHOUSE_TEST_FILES';

/** Two assertions a file that are the driver's own, not the file's. */
export const ownAssertions = 2;

const took = /^ {4}ok \d+ - (build\/\S+) took (\d+) ms(?: and (\d+\.\d+) s of processor time)?/;

/** How a company says that a file is over; `readTook` reads it. */
export const describeTook = ({ file, tookMs, seconds }: FileTime): string =>
  `${file} took ${Math.round(tookMs)} ms${seconds === null ? '' : ` and ${seconds.toFixed(2)} s of processor time`}`;

/** A file that is over. */
export interface FileTime {
  readonly file: string;
  /** On the clock. */
  readonly tookMs: number;
  /** Of processor time, with the processes that it started; null where the system does not say. */
  readonly seconds: number | null;
}

/** The file that is over and how long it took, when a line of TAP says that. */
export function readTook(line: string): FileTime | null {
  const [, file, ms, seconds] = took.exec(line) ?? [];
  return file === undefined
    ? null
    : { file, tookMs: Number(ms), seconds: seconds === undefined ? null : Number(seconds) };
}
