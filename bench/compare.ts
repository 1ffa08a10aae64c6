// `node build/bench/compare.js OLD.json NEW.json [--gate PERCENT]`: what changed between two results. A difference
// counts only when it is larger than the spread of both; with --gate a worsening beyond PERCENT (default 10) ends with
// exit code 1.
import { readFileSync } from 'node:fs';
import type { ResultRow, Results } from './results.js';

export interface Change {
  readonly key: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  /** (after − before) / before. */
  readonly change: number;
  /** Half spreads of both, as a share: smaller changes are noise. */
  readonly noise: number;
  readonly judgement: 'better' | 'worse' | 'same' | 'changed';
}

function judge(row: ResultRow, change: number, noise: number): Change['judgement'] {
  if (Math.abs(change) <= noise) return 'same';
  if (row.better === 'none') return 'changed';
  return change < 0 === (row.better === 'lower') ? 'better' : 'worse';
}

/** Rows that both results have, in the order of the newer. */
export function compareResults(before: Results, after: Results): Change[] {
  const old = new Map(before.rows.map((row) => [row.key, row]));
  return after.rows.flatMap((row) => {
    const past = old.get(row.key);
    if (past === undefined) return [];
    const change =
      past.measure.median === 0
        ? row.measure.median === 0
          ? 0
          : Infinity
        : (row.measure.median - past.measure.median) / past.measure.median;
    // A single value has no spread of its own; 5 % is what such a figure moves between two runs.
    const half = ({ measure }: ResultRow): number => (measure.values.length > 1 ? measure.spread / 2 : 0.05);
    const noise = Math.max(0.02, half(past) + half(row));
    return [
      {
        key: row.key,
        unit: row.unit,
        before: past.measure.median,
        after: row.measure.median,
        change,
        noise,
        judgement: judge(row, change, noise),
      },
    ];
  });
}

function percent(share: number): string {
  return Number.isFinite(share) ? `${share >= 0 ? '+' : ''}${(share * 100).toFixed(1)} %` : 'from 0';
}

function describe({ key, unit, before, after, change, noise, judgement }: Change): string {
  const verdict = `${judgement.padEnd(8)} ${percent(change).padStart(9)} (noise ${(noise * 100).toFixed(1)} %)`;
  return `${verdict}  ${key}: ${before.toFixed(2)} → ${after.toFixed(2)} ${unit}`;
}

export function main(argv: readonly string[]): number {
  const gateAt = argv.indexOf('--gate');
  const gate = gateAt < 0 ? null : Number(argv[gateAt + 1] ?? 10) / 100;
  const files = argv.filter((argument, index) => !argument.startsWith('--') && (gateAt < 0 || index !== gateAt + 1));
  const [beforeFile, afterFile] = files;
  if (beforeFile === undefined || afterFile === undefined || (gate !== null && !(gate >= 0))) {
    console.error('Usage: node build/bench/compare.js OLD.json NEW.json [--gate PERCENT]');
    return 2;
  }
  const before = JSON.parse(readFileSync(beforeFile, 'utf8')) as Results;
  const after = JSON.parse(readFileSync(afterFile, 'utf8')) as Results;
  if (before.machine.cpu !== after.machine.cpu || before.machine.cores !== after.machine.cores)
    console.log('Different machines: ratios between systems may be compared, absolute figures may not.\n');
  const changes = compareResults(before, after);
  for (const change of changes.filter(({ judgement }) => judgement !== 'same')) console.log(describe(change));
  const same = changes.filter(({ judgement }) => judgement === 'same').length;
  console.log(`\n${changes.length} measures in both, ${same} within noise; ${before.commit} → ${after.commit}`);
  const failed =
    gate === null
      ? []
      : changes.filter(
          ({ judgement, change, noise }) => judgement === 'worse' && Math.abs(change) > Math.max(gate, noise),
        );
  for (const { key } of failed) console.log(`gate: ${key} is worse by more than ${((gate ?? 0) * 100).toFixed(0)} %`);
  return failed.length > 0 ? 1 : 0;
}

if (process.argv[1]?.endsWith('compare.js') === true) process.exitCode = main(process.argv.slice(2));
