// The chart of a release: gatehouse-VERSION.tgz as `helm package` writes it, the same bytes for the same content.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipFile, normalize, tarOf } from '../release/archives.js';

/** Semantic versions know no `~`: 1.2.3~rc1 is 1.2.3-rc1 there. */
const chartVersion = (version: string): string => version.replace('~', '-');
export const chartFileName = (version: string): string => `gatehouse-${chartVersion(version)}.tgz`;

export interface ChartInput {
  /** The checkout. */
  readonly root: string;
  readonly version: string;
  /** Seconds; every file has this time. */
  readonly epoch: number;
}

/** Writes the archive as `file`; `scratch` is used and removed. */
export function packageChart({ root, version, epoch }: ChartInput, scratch: string, file: string): void {
  const from = join(root, 'deploy/helm/gatehouse');
  const to = join(scratch, 'gatehouse');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  // as .helmignore says it
  cpSync(from, to, { recursive: true, filter: (path) => !['ci', '.helmignore'].includes(basename(path)) });
  const meta = join(to, 'Chart.yaml');
  const text = readFileSync(meta, 'utf8')
    .replace(/^version: .*$/m, `version: ${chartVersion(version)}`)
    .replace(/^appVersion: .*$/m, `appVersion: ${JSON.stringify(version)}`);
  writeFileSync(meta, text);
  normalize(to, epoch);
  const plain = join(scratch, 'chart.tar');
  tarOf(scratch, plain, epoch, ['gatehouse']);
  gzipFile(plain, file);
  rmSync(scratch, { recursive: true, force: true });
}
