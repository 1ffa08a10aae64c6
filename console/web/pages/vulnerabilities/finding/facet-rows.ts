// Counts of findings in the order in which a person looks for them: severities by how grave they are, everything else
// by how many there are.
import { severities } from '../words.js';

export interface FacetRow {
  /** As the filter takes it. */
  readonly value: string;
  readonly count: number;
}

export function rowsOfFacet(name: string, counts: Readonly<Record<string, number>>): FacetRow[] {
  const rows = Object.entries(counts).map(([value, count]) => ({ value, count }));
  const rank = (value: string): number => severities.findIndex((one) => one === value);
  return name === 'severity'
    ? rows.sort((one, other) => rank(one.value) - rank(other.value))
    : rows.sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1));
}

/** `cwe:79` and `cwe:CWE-79` are one filter. */
export const isChosen = (name: string, value: string, given: string): boolean =>
  name === 'cwe' ? value.replace(/\D/g, '') === given.replace(/\D/g, '') : value === given;
