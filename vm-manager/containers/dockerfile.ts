// A Dockerfile by itself, in an engine's process of its own: text of others is read nowhere else.
import { scannerOf } from '../scanners/catalogue.js';
import { scan, scanLimits } from '../scanners/run/scan.js';
import type { Source } from '../scanners/sources/source.js';

const atOnceMax = 2;
const runMsMax = 20_000;
let running = 0;

function sourceOf(text: string): Source {
  const bytes = Buffer.from(text);
  return {
    total: 1,
    isOneFile: true,
    async *items() {
      yield { path: 'Dockerfile', bytes: bytes.length, read: async (most = bytes.length) => bytes.subarray(0, most) };
    },
  };
}

/** null: too many are looked at now. */
export async function lintDockerfile(text: string) {
  if (running >= atOnceMax) return null;
  running++;
  try {
    const scanners = [scannerOf('iac'), scannerOf('secrets')];
    const limits = { ...scanLimits, runMsMax };
    const { results, stopped } = await scan(
      sourceOf(text),
      scanners,
      () => undefined,
      new AbortController().signal,
      limits,
    );
    const items = results.flatMap(({ scanner, findings }) =>
      findings.map(({ rule: id, line, endLine = line, message, severity, suppressed = null }) => {
        const rule = scanner.rules.find((one) => one.id === id);
        return {
          ...{ rule: id, title: rule?.title ?? id, severity: severity ?? rule?.severity ?? 'info', line, message },
          ...{ end_line: endLine, remediation: rule?.remediation ?? '', cwes: [...(rule?.cwes ?? [])], suppressed },
        };
      }),
    );
    return {
      complete: stopped === null && results.every(({ complete }) => complete),
      items: items.sort((left, right) => left.line - right.line),
      problems: results.flatMap(({ notScanned }) =>
        notScanned.filter(({ isFault }) => isFault).map(({ reason }) => reason),
      ),
    };
  } finally {
    running--;
  }
}
