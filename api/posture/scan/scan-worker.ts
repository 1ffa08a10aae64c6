// The thread that scans documents of pipelines: reads, looks, and writes the answer in the format that was asked for.
import { parentPort } from 'node:worker_threads';
import { isObject, type SpecProblem } from '../../spec/document/problem.js';
import { readSpecification } from '../../spec/document/read.js';
import { readText } from '../../spec/document/text.js';
import { sentDocument } from '../../spec/document/sent.js';
import { toJunit, toSarif, toText } from './formats.js';
import { fileCharsMax, formats, type Said, type ScanJob, type ScanReply } from './jobs.js';
import { scanRules } from './rules.js';
import { scanSpecification, type Scan } from './scan.js';

class Wrong extends Error {
  constructor(
    readonly member: string,
    readonly reason: string,
    readonly fix: string,
  ) {
    super(`${member} ${reason}`);
  }
}

/** What an envelope says beside its document. Throws Wrong. */
function envelopeOf(body: string): Said {
  if (!/^\s*\{/.test(body)) return {};
  const value = parsed(body);
  if (!isObject(value) || value['spec'] === undefined || value['openapi'] !== undefined) return {};
  const { format, file } = value;
  const gate = (name: 'max_high' | 'max_medium'): number | undefined => {
    const given = value[name];
    if (given === undefined) return undefined;
    if (Number.isSafeInteger(given) && Number(given) >= 0) return Number(given);
    throw new Wrong(name, 'is no count', 'write a whole number from 0');
  };
  const known = formats.find((one) => one === format);
  if (format !== undefined && known === undefined)
    throw new Wrong('format', 'is none of the formats', `write one of ${formats.join(', ')}`);
  if (file !== undefined && (typeof file !== 'string' || file === '' || file.length > fileCharsMax))
    throw new Wrong('file', 'is no name of a file', `write 1 to ${fileCharsMax} characters, or leave it out`);
  return { maxHigh: gate('max_high'), maxMedium: gate('max_medium'), format: known, file };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // the reader of documents tells what is wrong, with its line
  }
}

function viewScan(scan: Scan, file: string, problems: readonly SpecProblem[]): object {
  return {
    file,
    passed: scan.passed,
    posture_score: scan.score,
    operations: scan.operations,
    ...scan.counts,
    gates: { max_high: scan.gates.maxHigh, max_medium: scan.gates.maxMedium },
    breaches: scan.breaches,
    findings: scan.findings.map((one) => {
      const { owasp, fix } = scanRules[one.rule];
      return { ...one, owasp, fix };
    }),
    problems,
  };
}

function scanned({ body, said: query }: ScanJob): ScanReply {
  const around = envelopeOf(body);
  const { text } = sentDocument(body);
  const result = readSpecification(text);
  if (result.kind === 'refused') return { kind: 'refused', problems: result.problems.slice(0, 100) };
  const { specification } = result;
  const gates = {
    maxHigh: query.maxHigh ?? around.maxHigh ?? 0,
    maxMedium: query.maxMedium ?? around.maxMedium ?? 0,
  };
  const scan = scanSpecification(specification, gates, readText(text).text?.lineOf ?? (() => 1));
  const file = query.file ?? around.file ?? (specification.format === 'yaml' ? 'openapi.yaml' : 'openapi.json');
  const format = query.format ?? around.format ?? 'json';
  const write = {
    json: () => JSON.stringify(viewScan(scan, file, specification.problems)),
    sarif: () => JSON.stringify(toSarif(scan, file)),
    junit: () => toJunit(scan, file),
    text: () => toText(scan, file),
  };
  return { kind: 'scanned', format, text: write[format]() };
}

const port = parentPort;
port?.on('message', (job: ScanJob) => {
  try {
    port.postMessage(scanned(job));
  } catch (error) {
    if (error instanceof Wrong)
      port.postMessage({ kind: 'wrong', name: error.member, reason: error.reason, fix: error.fix });
    else port.postMessage({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
  }
});
