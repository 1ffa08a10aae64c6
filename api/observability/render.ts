// The text format of Prometheus 0.0.4.
import { families, type Family, type FamilyKey } from './families.js';

export interface Sample {
  /** One for each label of the family. */
  readonly labels: readonly string[];
  readonly value: number;
}
export type Samples = Readonly<Record<FamilyKey, readonly Sample[]>>;

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

function line({ name, labels }: Family, sample: Sample): string {
  const told = labels.map((label, index) => `${label}="${escapeLabel(sample.labels[index] ?? '')}"`);
  return `${name}${told.length === 0 ? '' : `{${told.join(',')}}`} ${sample.value}`;
}

/** Every family, also those without a sample: a scraper learns what there is. */
export function render(samples: Samples): string {
  return Object.entries<Family>(families)
    .flatMap(([key, family]) => [
      `# HELP ${family.name} ${family.help}`,
      `# TYPE ${family.name} ${family.type}`,
      ...samples[key as FamilyKey].map((sample) => line(family, sample)),
    ])
    .concat('')
    .join('\n');
}
