// SARIF 2.1.0 of a scan: one run a scanner, with all of its rules, and the files that it did not read as notifications,
// so that a reader knows whether the lack of a finding means anything.
import type { Severity } from '../../findings/words.js';
import { packVersion, type Extent, type Finding, type FlowStep, type NotScanned, type Rule } from '../contract.js';
import type { ScannerResult, ScanResult } from '../run/result.js';

const levels: Readonly<Record<Severity, string>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  info: 'note',
};
/** The middle of what the severity means in CVSS (GitHub's own convention for `security-severity`). */
const scores: Readonly<Record<Severity, string>> = {
  critical: '9.5',
  high: '8.0',
  medium: '5.5',
  low: '2.5',
  info: '0.0',
};
const faultsMax = 500;

const toRule = ({ id, version, title, severity, cwes, description, remediation, knownAs = [] }: Rule) => ({
  id,
  name: title,
  shortDescription: { text: title },
  fullDescription: { text: description },
  help: { text: remediation },
  defaultConfiguration: { level: levels[severity] },
  properties: {
    version,
    'security-severity': scores[severity],
    cwe: cwes.map((number) => `CWE-${number}`),
    tags: ['security', ...cwes.map((number) => `external/cwe/cwe-${String(number).padStart(3, '0')}`)],
    ...(knownAs.length === 0 ? {} : { topics: knownAs }),
  },
});

/** Paths may have characters that a URI has not. */
const toUri = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

const toCodeFlow = (path: string, flow: readonly FlowStep[]) => ({
  threadFlows: [
    {
      locations: flow.map(({ line, what, snippet }) => ({
        location: {
          message: { text: what },
          physicalLocation: {
            artifactLocation: { uri: toUri(path) },
            region: { startLine: line, ...(snippet === undefined ? {} : { snippet: { text: snippet } }) },
          },
        },
      })),
    },
  ],
});

function toResult(finding: Finding, rules: ReadonlyMap<string, number>) {
  const { rule, path, line, endLine, column, message, severity, address, snippet, fingerprint } = finding;
  const { suppressed, isOfBaseline, flow } = finding;
  return {
    ruleId: rule,
    ruleIndex: rules.get(rule) ?? -1,
    message: { text: message },
    ...(severity === undefined
      ? {}
      : { level: levels[severity], properties: { 'security-severity': scores[severity] } }),
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toUri(path) },
          region: {
            startLine: line,
            ...(endLine === undefined || endLine < line ? {} : { endLine }),
            ...(column === undefined ? {} : { startColumn: column }),
            ...(snippet === undefined ? {} : { snippet: { text: snippet } }),
          },
        },
        ...(address === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: address, kind: 'resource' }] }),
      },
    ],
    ...(fingerprint === undefined ? {} : { partialFingerprints: { 'gatehouse/v1': fingerprint } }),
    ...(flow === undefined ? {} : { codeFlows: [toCodeFlow(path, flow)] }),
    ...(suppressed === undefined
      ? {}
      : { suppressions: [{ kind: isOfBaseline === true ? 'external' : 'inSource', justification: suppressed }] }),
  };
}

const toNotification = ({ path, reason, isFault }: NotScanned) => ({
  level: isFault ? 'error' : 'note',
  descriptor: { id: isFault ? 'not-read' : 'left-out' },
  message: { text: reason },
  locations: [{ physicalLocation: { artifactLocation: { uri: toUri(path) } } }],
});

function toRun(result: ScannerResult, covers: Extent) {
  const { scanner, findings, notScanned, complete, scanned, notScannedByReason, lookedAt } = result;
  const places = new Map(scanner.rules.map(({ id }, index) => [id, index]));
  const faults = notScanned.filter(({ isFault }) => isFault).slice(0, faultsMax);
  return {
    tool: {
      driver: {
        name: scanner.tool,
        semanticVersion: packVersion,
        rules: scanner.rules.map(toRule),
      },
    },
    invocations: [{ executionSuccessful: true, toolExecutionNotifications: faults.map(toNotification) }],
    // of a part whoever imports it has to know in which files the lack of a finding means something (3.24.6)
    ...(covers === 'whole'
      ? {}
      : { artifacts: lookedAt.map((path) => ({ location: { uri: toUri(path) }, roles: ['analysisTarget'] })) }),
    results: findings.map((finding) => toResult(finding, places)),
    properties: { complete, covers, filesScanned: scanned.length, notScanned: notScannedByReason },
  };
}

export const toSarif = ({ results }: ScanResult, covers: Extent): object => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: results.map((one) => toRun(one, covers)),
});
