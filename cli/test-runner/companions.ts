// Test files that run in one process, one after another. A file that needs databases spends two thirds of its processor
// time before its first assertion: on starting Node.js, on a thousand modules, on a PostgreSQL and on an embedded
// database (WebAssembly that each process compiles anew). Eight of them together spend it once.
//
// Isolation: every suite gets empty databases and an application of its own in any case; a file that touches what
// belongs to the process (environment, signals, globals, children, mocks, tap's root) stays alone. And a company that
// did not pass proves nothing about its members: each is run again, alone (run.ts).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** More would make the last ones of a run late: a company is one processor's work. */
const companyMax = 8;

/** What they have in common, and what makes sharing worth it. */
const shares = /from ["'][^"']*testing\/databases(?:\.js)?["']/;

/** What belongs to the whole process, in the text of a built test. */
const ownsProcess = [
  /\bprocess\b/,
  /\bglobalThis\b|\bglobal\.|setGlobalDispatcher|stackTraceLimit|prototype\.\w+ = /,
  /node:(?:child_process|worker_threads|cluster|v8|vm)|testing\/(?:processes|crashes)/,
  /\b(?:t|root|tap)\.(?:mock\w*|intercept|capture\w*|plan|jobs|bailout|endAll|pragma|testdir|before|after)\b/,
  /^(?:t|root|tap)\.(?:setTimeout|beforeEach|afterEach|teardown|end)\b/m,
  /\b(?:startCluster|copyEmbeddedTemplate)\b|\.crash\(/,
  // tests that are awaited while the file is imported would wait for its import
  /^(?:await|for await|const .* = await)\b/m,
];

/** Whether a test file with this built text may run with others in one process. */
export const mayShare = (text: string): boolean => shares.test(text) && !ownsProcess.some((word) => word.test(text));

/** Files, each in exactly one company; one of one is a process of its own. The order of the first members stays. */
export function formCompanies(root: string, files: readonly string[]): readonly (readonly string[])[] {
  const companies: string[][] = [];
  let open: string[] = [];
  for (const file of files) {
    if (!mayShare(readFileSync(join(root, file), 'utf8'))) {
      companies.push([file]);
      continue;
    }
    if (open.length === 0 || open.length === companyMax) companies.push((open = []));
    open.push(file);
  }
  return companies;
}

/** Two assertions a file that are the driver's own, not the file's. */
export const ownAssertions = 2;

const took = /^ {4}ok \d+ - (build\/\S+) took (\d+) ms/;

/** How a company says that a file is over; `readTook` reads it. */
export const describeTook = (file: string, ms: number): string => `${file} took ${Math.round(ms)} ms`;

/** The file that is over and how long it took, when a line of TAP says that. */
export function readTook(line: string): { readonly file: string; readonly tookMs: number } | null {
  const [, file, ms] = took.exec(line) ?? [];
  return file === undefined ? null : { file, tookMs: Number(ms) };
}
