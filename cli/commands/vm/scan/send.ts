// A scan goes to the server: as reports of a pipeline, which ends with the verdict of a gate, or as imports alone.
import { execFileSync } from 'node:child_process';
import { openAsBlob, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toCyclonedx, toSarif, type Extent, type ScanResult } from '#vm-manager/scanners';
import type { Values } from './options.js';

interface Report {
  readonly path: string;
  readonly name: string;
  /** It closes nothing: components do not say which file they are of. */
  readonly ofPart: boolean;
}

/** The reports of a scan as files, while `use` runs. */
async function withReports<T>(
  result: ScanResult,
  covers: Extent,
  use: (reports: readonly Report[]) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-scan-'));
  try {
    const sarif = join(directory, 'scan.sarif');
    writeFileSync(sarif, JSON.stringify(toSarif(result, covers)));
    const reports: Report[] = [{ path: sarif, name: 'scan.sarif', ofPart: false }];
    if (result.results.some(({ packages }) => packages.length > 0)) {
      const bill = join(directory, 'packages.cdx.json');
      writeFileSync(bill, JSON.stringify(toCyclonedx(result)));
      reports.push({ path: bill, name: 'packages.cdx.json', ofPart: covers === 'part' });
    }
    return await use(reports);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The gate of the server over what was found. */
export const askGate = (result: ScanResult, covers: Extent, values: Values): Promise<number> =>
  withReports(result, covers, async (reports) => {
    const { runGate } = await import('../gate.js');
    const named = (['application', 'commit', 'branch', 'url'] as const).flatMap((name) =>
      values[name] === undefined ? [] : [`--${name}`, values[name]],
    );
    return runGate([
      ...named,
      ...reports.flatMap(({ path, ofPart }) => [ofPart ? '--report-of-part' : '--report', path]),
    ]);
  });

/** What Git says of the directory; undefined: nothing, or there is no Git. */
function askGit(path: string, ...args: readonly string[]): string | undefined {
  const directory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? path : '.';
  try {
    const said = execFileSync('git', ['-C', directory, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
    });
    const text = said.toString().trim();
    return text === '' || text === 'HEAD' ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Rejects with Refusals of the exit code 2. */
export async function upload(result: ScanResult, covers: Extent, values: Values, path: string): Promise<void> {
  const { defaultUrl, toApi } = await import('../gate.js');
  const api = toApi(values.url ?? process.env['GATEHOUSE_URL'] ?? defaultUrl);
  const fields = {
    application_id: values.application,
    commit: values.commit ?? askGit(path, 'rev-parse', 'HEAD'),
    branch: values.branch ?? askGit(path, 'rev-parse', '--abbrev-ref', 'HEAD'),
  };
  await withReports(result, covers, async (reports) => {
    for (const report of reports) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, value);
      // of a part the report itself says what was looked at
      form.set('mode', report.ofPart ? 'add' : 'sync');
      form.set('file', await openAsBlob(report.path), report.name);
      const made = await api.json<{ id: string; result: Record<string, number> }>('POST', '/imports', form);
      const { created = 0, parsed = 0, closed = 0 } = made.result;
      console.error(
        `scan: ${report.name} is import ${made.id}: ${parsed} records, ${created} new findings, ${closed} closed`,
      );
    }
  });
}
