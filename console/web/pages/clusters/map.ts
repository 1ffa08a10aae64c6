// Which application a workload is of, as lines that a person types: pure.

export interface MapRule {
  readonly namespace: string;
  readonly workload?: string;
  readonly application_id: string;
}

/** null: a line has other than three words. Empty lines are none. */
export function mapOf(typed: string): MapRule[] | null {
  const lines = typed
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([first]) => first !== '');
  if (lines.some((words) => words.length !== 3)) return null;
  return lines.map(([namespace = '', workload = '', id = '']) => ({ namespace, workload, application_id: id }));
}

export const mapText = (rules: readonly MapRule[]): string =>
  rules.map(({ namespace, workload = '*', application_id: id }) => `${namespace} ${workload} ${id}`).join('\n');
