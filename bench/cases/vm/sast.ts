// The scanner of source code over labelled files: precision, recall, Youden's index by language, and speed. The labels
// stand in data/sast-corpus/labels.json (`[{file, cwe, vulnerable}]`), the files below that folder; where it is absent
// the case is skipped and says so.
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { openSource, scan, scannerOf } from '#vm-manager/scanners';
import type { BenchContext } from '../../context.js';

interface Label {
  readonly file: string;
  readonly cwe: number;
  readonly vulnerable: boolean;
}

/** Weaknesses that tools name differently. */
const families: readonly (readonly number[])[] = [
  [77, 78, 88],
  [89, 564, 943],
  [79, 80, 83, 1336],
  [22, 23, 36, 73, 98],
  [326, 327, 328],
  [330, 338],
  [94, 95],
];
const familyOf = (cwe: number): readonly number[] => families.find((one) => one.includes(cwe)) ?? [cwe];
const share = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);

export async function vmSastCase({ root, recorder, progress }: BenchContext): Promise<void> {
  const folder = join(root, 'data/sast-corpus');
  const at = join(folder, 'labels.json');
  if (!existsSync(at)) return recorder.note('vm-sast: skipped, there is no data/sast-corpus/labels.json');
  const labels = JSON.parse(readFileSync(at, 'utf8')) as readonly Label[];
  progress(`vm-sast: ${labels.length} labels`);
  const source = await openSource(folder);
  const result = await scan(source, [scannerOf('sast')], () => undefined, new AbortController().signal);
  const [own] = result.results;
  const cwes = new Map(own?.scanner.rules.map((rule) => [rule.id, rule.cwes]));
  const found = new Map<string, Set<number>>();
  for (const { path, rule } of own?.findings ?? [])
    found.set(path, new Set([...(found.get(path) ?? []), ...(cwes.get(rule) ?? [])]));
  for (const language of new Set(labels.map(({ file }) => extname(file)))) {
    const count = { hit: 0, missed: 0, alarm: 0, quiet: 0 };
    for (const { file, cwe, vulnerable } of labels.filter(({ file: one }) => extname(one) === language)) {
      const isFound = familyOf(cwe).some((one) => found.get(file)?.has(one) === true);
      count[vulnerable ? (isFound ? 'hit' : 'missed') : isFound ? 'alarm' : 'quiet']++;
    }
    const recall = share(count.hit, count.hit + count.missed);
    recorder.add(`vm-sast / ${language} / precision`, '%', 'higher', share(count.hit, count.hit + count.alarm));
    recorder.add(`vm-sast / ${language} / recall`, '%', 'higher', recall);
    recorder.add(
      `vm-sast / ${language} / Youden`,
      '%',
      'higher',
      recall - share(count.alarm, count.alarm + count.quiet),
    );
  }
  recorder.add('vm-sast / speed', 'MB/s', 'higher', result.bytes / 1e6 / result.seconds);
}
