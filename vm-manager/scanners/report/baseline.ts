// A baseline: findings that are known and are to be fixed later. They are set aside in reports; what is new is not.
// It is a file for people, too: sorted, one finding a line, each with room for a reason.
import { createHash } from 'node:crypto';
import type { Finding } from '../contract.js';
import type { ScanResult } from '../run/result.js';

const entriesMax = 100_000;

interface Entry {
  readonly kind: string;
  readonly rule: string;
  readonly path: string;
  /** How many of them; lines are left out, for they move. */
  readonly count: number;
  readonly id: string;
  readonly reason?: string;
}

export interface Baseline {
  readonly entries: readonly Entry[];
}

/** Lines move, and the same finding stays the same one. */
const idOf = (kind: string, { rule, path, fingerprint, address, snippet, message }: Finding): string =>
  createHash('sha256')
    .update(`${kind}\n${rule}\n${path}\n${fingerprint ?? `${address ?? ''}\n${snippet?.trim() ?? message}`}`)
    .digest('hex')
    .slice(0, 24);

const open = ({ suppressed }: Finding): boolean => suppressed === undefined;

/** All that is found now and is not set aside in the source; reasons of `before` stay. */
export function baselineOf({ results }: ScanResult, before: Baseline | null): string {
  const entries = new Map<string, Entry>();
  const reasons = new Map(before?.entries.map(({ id, reason }) => [id, reason] as const) ?? []);
  for (const { scanner, findings } of results)
    for (const finding of findings.filter(open)) {
      const id = idOf(scanner.kind, finding);
      const known = entries.get(id);
      const reason = reasons.get(id);
      entries.set(id, {
        ...{ kind: scanner.kind, rule: finding.rule, path: finding.path, count: (known?.count ?? 0) + 1, id },
        ...(reason === undefined ? {} : { reason }),
      });
    }
  const sorted = [...entries.values()].sort((left, right) => {
    const [a, b] = [left, right].map(({ path, kind, rule, id }) => `${path}\n${kind}\n${rule}\n${id}`);
    return (a ?? '') < (b ?? '') ? -1 : 1;
  });
  const lines = sorted.map((one) => `    ${JSON.stringify(one)}`).join(',\n');
  return `{\n  "gatehouse-baseline": 1,\n  "findings": [${lines === '' ? '' : `\n${lines}\n  `}]\n}\n`;
}

/** Throws with what is wrong, and where. */
export function readBaseline(text: string): Baseline {
  const found = JSON.parse(text) as { 'gatehouse-baseline'?: unknown; findings?: unknown } | null;
  if (found?.['gatehouse-baseline'] !== 1 || !Array.isArray(found.findings))
    throw new Error('is no baseline; --write-baseline makes one');
  if (found.findings.length > entriesMax) throw new Error(`has more than ${entriesMax} findings`);
  const entries = (found.findings as Partial<Entry>[]).map((one, at): Entry => {
    const { kind, rule, path, count, id, reason } = one;
    const isWhole = [kind, rule, path, id].every((text) => typeof text === 'string') && Number.isInteger(count);
    if (!isWhole || (reason !== undefined && typeof reason !== 'string'))
      throw new Error(`has a finding (${at + 1}) without kind, rule, path, count and id`);
    return one as Entry;
  });
  return { entries };
}

/** The result with what is known set aside, how much that is, and how many of the baseline were not found any more. */
export function applyBaseline(result: ScanResult, { entries }: Baseline) {
  const left = new Map(entries.map(({ id, count }) => [id, count] as const));
  const reasons = new Map(entries.map(({ id, reason }) => [id, reason] as const));
  let known = 0;
  const results = result.results.map((one) => ({
    ...one,
    findings: one.findings.map((finding) => {
      const id = idOf(one.scanner.kind, finding);
      const count = left.get(id) ?? 0;
      if (!open(finding) || count === 0) return finding;
      left.set(id, count - 1);
      known++;
      return { ...finding, suppressed: `baseline: ${reasons.get(id) ?? 'known before'}`, isOfBaseline: true as const };
    }),
  }));
  const scanned = new Set(result.results.map(({ scanner }) => scanner.kind as string));
  const gone = entries.filter(({ kind, id }) => scanned.has(kind) && (left.get(id) ?? 0) > 0).length;
  return { result: { ...result, results }, known, gone };
}
