// Results as a Markdown document for people: one table per case, medians with their spread.
import type { ResultRow, Results } from './results.js';

function round(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}
/** `61.2 ±4 %`; the spread is left out where there is one value only. */
function cell({ measure }: ResultRow): string {
  return measure.values.length > 1
    ? `${round(measure.median)} ±${Math.round((measure.spread / 2) * 100)} %`
    : round(measure.median);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Rows with keys `a / b / system / quantity` become a table with one line per system. */
function proxyTables(rows: readonly ResultRow[]): string {
  const traffics = [...new Set(rows.map(({ key }) => key.split(' / ')[1] ?? ''))];
  return traffics
    .map((traffic) => {
      const own = rows.filter(({ key }) => key.split(' / ')[1] === traffic);
      const systems = [...new Set(own.map(({ key }) => key.split(' / ')[2] ?? ''))];
      const quantities = ['CPU', 'throughput', 'p50', 'p99', 'memory', 'memo hits', 'not 2xx'];
      const find = (system: string, quantity: string): ResultRow | undefined =>
        own.find(({ key }) => key === `proxy / ${traffic} / ${system} / ${quantity}`);
      const head = [
        'system',
        ...quantities.map(
          (quantity) => `${quantity} (${own.find(({ key }) => key.endsWith(`/ ${quantity}`))?.unit ?? ''})`,
        ),
      ];
      const lines = systems.map((system) => [
        system,
        ...quantities.map((quantity) => find(system, quantity)).map((row) => (row === undefined ? '' : cell(row))),
      ]);
      return `### Traffic: ${traffic}\n\n${table(head, lines)}`;
    })
    .join('\n\n');
}

function plainTable(rows: readonly ResultRow[]): string {
  return table(
    ['what', 'median', 'unit'],
    rows.map((row) => [row.key.split(' / ').slice(1).join(' / '), cell(row), row.unit]),
  );
}

export function toMarkdown(results: Results, chart: string | null): string {
  const groups = [...new Set(results.rows.map(({ key }) => key.split(' / ')[0] ?? ''))];
  const { machine } = results;
  const sections = groups.map((group) => {
    const rows = results.rows.filter(({ key }) => key.startsWith(`${group} / `));
    const tables =
      group === 'proxy' ? proxyTables(rows.filter(({ key }) => !key.includes('/ thread '))) : plainTable(rows);
    return `## ${group}\n\n${tables}`;
  });
  return `# Benchmark of ${results.at.slice(0, 10)}, commit ${results.commit}

${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, Linux ${machine.kernel}, Node ${results.node}.
Medians of the repetitions; ± is half of (max − min) / median. \`README.md\` says how to read this.
${chart === null ? '' : `\n![CPU per request](${chart})\n`}
${sections.join('\n\n')}
${results.notes.length === 0 ? '' : `\n## Notes\n\n${results.notes.map((note) => `- ${note}`).join('\n')}\n`}`;
}
