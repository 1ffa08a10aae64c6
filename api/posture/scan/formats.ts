// A scan as SARIF 2.1.0 (OASIS), as JUnit XML, and as text for a terminal.
import { scanRules, scanSeverities, type ScanRule } from './rules.js';
import type { LocatedFinding, Scan } from './scan.js';

const levels = { high: 'error', medium: 'warning', low: 'note' } as const;
/** `security-severity`, by which code hosts sort findings: the middle of CVSS's bands. */
const scores = { high: '8.0', medium: '5.5', low: '2.0' } as const;

const ruleNames = Object.keys(scanRules) as ScanRule[];

/** A name of a file as a reference (RFC 3986 section 4.2): `#` and `?` are part of the name here. */
const referenceOf = (file: string): string =>
  encodeURI(file.replace(/^(?:\.\/)+/, '').replace(/[\ud800-\udfff]/gu, '\ufffd')).replace(/[#?]/g, encodeURIComponent);

/** `file`: of the repository, as the caller names it. */
export function toSarif(scan: Scan, file: string): object {
  const rules = ruleNames.map((id) => {
    const { severity, owasp, text, fix } = scanRules[id];
    return {
      id,
      shortDescription: { text },
      help: { text: fix },
      defaultConfiguration: { level: levels[severity] },
      properties: { tags: ['security', owasp], 'security-severity': scores[severity] },
    };
  });
  const results = scan.findings.map((one) => ({
    ruleId: one.rule,
    ruleIndex: ruleNames.indexOf(one.rule),
    level: levels[one.severity],
    message: { text: `${one.method} ${one.path}: ${one.message}` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: referenceOf(file) }, region: { startLine: one.line } },
        logicalLocations: [{ fullyQualifiedName: one.pointer, kind: 'member' }],
      },
    ],
    partialFingerprints: { 'gatehouse/v1': `${one.rule} ${one.method} ${one.path}` },
  }));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'API scan', rules } },
        results,
        properties: { passed: scan.passed, score: scan.score, ...scan.counts },
      },
    ],
  };
}

/** Characters that XML 1.0 section 2.2 has no place for are left out. */
const xml = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** One case an operation with findings, and one for the gates. Low findings fail no case. */
export function toJunit(scan: Scan, file: string): string {
  const byOperation = new Map<string, LocatedFinding[]>();
  for (const one of scan.findings) {
    const key = `${one.method} ${one.path}`;
    byOperation.set(key, [...(byOperation.get(key) ?? []), one]);
  }
  const cases = [...byOperation].map(([name, all]) => {
    const grave = all.filter(({ severity }) => severity !== 'low');
    const lines = all.map((one) => `${file}:${one.line}: ${one.severity} ${one.rule}: ${one.message}`).join('\n');
    const [first] = grave;
    const inner =
      first === undefined
        ? `<system-out>${xml(lines)}</system-out>`
        : `<failure type="${first.rule}" message="${xml(first.message)}">${xml(lines)}</failure>`;
    return {
      isFailure: first !== undefined,
      text: `<testcase classname="${xml(file)}" name="${xml(name)}">${inner}</testcase>`,
    };
  });
  const failures = cases.filter(({ isFailure }) => isFailure).length + (scan.passed ? 0 : 1);
  const gate = scan.passed ? '' : `<failure type="gate" message="${xml(scan.breaches.join('; '))}"></failure>`;
  const counts = `tests="${cases.length + 1}" failures="${failures}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="API scan" ${counts}>`,
    `<testcase classname="${xml(file)}" name="gates: score ${scan.score}">${gate}</testcase>`,
    ...cases.map(({ text }) => text),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** The first word is PASS or FAIL, which the gate script reads. */
export function toText(scan: Scan, file: string): string {
  const { counts, gates } = scan;
  const sums =
    `${counts.high} high (max ${gates.maxHigh}), ${counts.medium} medium (max ${gates.maxMedium}), ` +
    `${counts.low} low`;
  const head = `${scan.passed ? 'PASS' : 'FAIL'} ${file}: score ${scan.score}, ${scan.operations} operations, ${sums}`;
  const rank = (one: LocatedFinding): number => scanSeverities.indexOf(one.severity);
  const sorted = [...scan.findings].sort((one, other) => rank(one) - rank(other));
  const lines = sorted.map(
    (one) => `${file}:${one.line}: ${one.severity} ${one.rule}: ${one.method} ${one.path}: ${one.message}`,
  );
  // Names come from the document: a line stays a line, and nothing steers a terminal.
  return (
    [head, ...scan.breaches, ...lines].map((line) => line.replace(/[^\t\u0020-\u007e\u00a0-\uffff]/g, ' ')).join('\n') +
    '\n'
  );
}
