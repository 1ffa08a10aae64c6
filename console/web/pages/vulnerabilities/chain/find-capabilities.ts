// The table of capabilities as somebody looks for one: by the number of a weakness, by its name, by what it gives.

interface Searched {
  readonly cwe: string;
  readonly label: string;
  readonly capability: string;
  readonly mitre: string;
  readonly technique: string;
  readonly stage: string;
}

/** Rows of a stage (empty: of any) that have every word that was typed; `79` and `CWE-79` are that weakness alone. */
export function findCapabilities<Row extends Searched>(rows: readonly Row[], typed: string, stage: string): Row[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (row: Row, word: string): boolean => {
    const [, number] = /^(?:cwe-)?(\d+)$/.exec(word) ?? [];
    if (number !== undefined) return row.cwe === `CWE-${Number(number)}`;
    return [row.label, row.capability, row.mitre, row.technique].some((text) => text.toLowerCase().includes(word));
  };
  return rows.filter((row) => (stage === '' || row.stage === stage) && words.every((word) => fits(row, word)));
}
