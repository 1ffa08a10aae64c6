// A scan for people and for pipelines: as a table, as Markdown, as JUnit and as JSON. Texts of foreign files are shown
// and never obeyed by a terminal or a page.
import { severityNumbers, type Severity } from '../../findings/words.js';
import type { Finding, Rule } from '../contract.js';
import type { ScannerResult, ScanResult } from '../run/result.js';

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f]/g;
const clean = (text: string): string => text.replace(control, '?');
const numberOf = (severity: Severity): number => severityNumbers[severity] ?? 0;

export interface ShownFinding extends Finding {
  readonly kind: string;
  readonly severity: Severity;
  readonly title: string;
  readonly remediation: string;
  readonly cwes: readonly number[];
}

/** With what their rules say; the worst first. */
export function allFindings({ results }: ScanResult): ShownFinding[] {
  return results
    .flatMap(({ scanner, findings }) => {
      const rules = new Map<string, Rule>(scanner.rules.map((rule) => [rule.id, rule]));
      return findings.map((finding): ShownFinding => {
        const rule = rules.get(finding.rule);
        return {
          ...finding,
          kind: scanner.kind,
          severity: finding.severity ?? rule?.severity ?? 'medium',
          title: rule?.title ?? finding.rule,
          remediation: rule?.remediation ?? '',
          cwes: rule?.cwes ?? [],
        };
      });
    })
    .sort((left, right) => numberOf(right.severity) - numberOf(left.severity));
}

/** Those that are not set aside, at this severity or above. */
export const failing = (result: ScanResult, from: Severity): ShownFinding[] =>
  allFindings(result).filter(
    ({ severity, suppressed }) => suppressed === undefined && numberOf(severity) >= numberOf(from),
  );

/** What was not looked at, in one line a reason. */
const passedOf = ({ notScannedByReason, faultReasons }: ScannerResult): string[] =>
  Object.entries(notScannedByReason).map(
    ([reason, count]) => `${faultReasons.includes(reason) ? 'NOT READ' : 'left out'}  ${count}: ${clean(reason)}`,
  );

/** What was looked at, and whether the lack of findings means anything. */
function coverageOf(one: ScannerResult): string[] {
  const { scanner, scanned, complete, packages } = one;
  const listed = packages.length === 0 ? '' : `, ${packages.length} packages`;
  const state = !complete
    ? 'INCOMPLETE: what was not read may have findings'
    : scanned.length === 0
      ? 'nothing to look at'
      : 'complete';
  return [`${scanner.label}: ${scanned.length} files${listed}, ${state}`, ...passedOf(one).map((line) => `  ${line}`)];
}

export function toTable(result: ScanResult): string {
  const rows = allFindings(result).map(
    ({ severity, rule, path, line, message, suppressed }) =>
      `${severity.padEnd(8)} ${clean(path)}:${line}  ${rule}  ${clean(message)}` +
      (suppressed === undefined ? '' : `  [set aside: ${clean(suppressed)}]`),
  );
  const { files, bytes, seconds, stopped } = result;
  return [
    ...rows,
    ...(rows.length === 0 ? [] : ['']),
    ...result.results.flatMap(coverageOf),
    ...(stopped === null ? [] : [`STOPPED: ${stopped}`]),
    `${rows.length} findings; ${files} files seen, ${(bytes / 1e6).toFixed(1)} MB read in ${seconds.toFixed(1)} s`,
  ].join('\n');
}

const cell = (text: string): string => clean(text).replace(/[|\\`<>*_[\]]/g, (mark) => `\\${mark}`);

export function toMarkdown(result: ScanResult): string {
  const rows = allFindings(result).map(
    ({ severity, rule, path, line, message }) =>
      `| ${severity} | ${cell(path)}:${line} | ${cell(rule)} | ${cell(message)} |`,
  );
  return [
    '# Scan',
    '',
    ...(rows.length === 0 ? [] : ['| severity | where | rule | what |', '|---|---|---|---|', ...rows, '']),
    ...result.results
      .flatMap(coverageOf)
      .map((line) => (line.startsWith('  ') ? `  - ${cell(line.trim())}` : `- ${cell(line)}`)),
  ].join('\n');
}

const xml = (text: string): string => clean(text).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** A scanner that had no file to read has passed nothing. */
const emptyCase = (filesScanned: number): string =>
  filesScanned > 0
    ? '<testcase classname="scan" name="no finding"/>'
    : '<testcase classname="scan" name="nothing to look at"><skipped message="no file of this kind"/></testcase>';

/** A suite a scanner; a finding is a failure, and what was not read is an error. */
export function toJunit(result: ScanResult): string {
  const shown = allFindings(result);
  const suites = result.results.map(({ scanner, scanned, notScanned }) => {
    const own = shown.filter(({ kind }) => kind === scanner.kind);
    const faults = notScanned.filter(({ isFault }) => isFault);
    const cases = [
      ...own.map(
        ({ rule, path, line, message, severity, suppressed }) =>
          `<testcase classname="${xml(path)}" name="${xml(rule)} line ${line}">` +
          (suppressed === undefined
            ? `<failure type="${severity}" message="${xml(message)}"/>`
            : `<skipped message="${xml(suppressed)}"/>`) +
          '</testcase>',
      ),
      ...faults.map(
        ({ path, reason }) =>
          `<testcase classname="${xml(path)}" name="read"><error message="${xml(reason)}"/></testcase>`,
      ),
      ...(own.length + faults.length > 0 ? [] : [emptyCase(scanned.length)]),
    ];
    const failures = own.filter(({ suppressed }) => suppressed === undefined).length;
    return (
      `<testsuite name="${scanner.tool}" tests="${cases.length}" failures="${failures}" errors="${faults.length}">\n` +
      `${cases.join('\n')}\n</testsuite>`
    );
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`;
}

export const toJson = (result: ScanResult): object => ({
  files: result.files,
  bytes: result.bytes,
  seconds: result.seconds,
  stopped: result.stopped,
  scanners: result.results.map(({ scanner, complete, scanned, notScanned, notScannedByReason, packages }) => ({
    kind: scanner.kind,
    complete,
    files_scanned: scanned.length,
    packages: packages.length,
    not_scanned: notScannedByReason,
    faults: notScanned.filter(({ isFault }) => isFault).map(({ path, reason }) => ({ path, reason, isFault: true })),
  })),
  findings: allFindings(result),
});
