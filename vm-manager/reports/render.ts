// A chain report as JSON, CSV and HTML. The same report gives the same bytes. What comes from findings is escaped here:
// formulas in CSV (http-kit), markup in HTML.
import { toCsvLine } from '#http-kit';
import { kindNames, type ChainReport, type ReportRow } from './chain-report.js';

export const columns: readonly (readonly [string, (row: ReportRow) => string | number])[] = [
  ['Severity', ({ tint }) => tint],
  ['Chain', ({ name }) => name],
  ['Kind', ({ kind }) => kindNames[kind]],
  ['Application', ({ application }) => application],
  ['Stage path', ({ stage_path: path }) => path],
  ['Score', ({ score }) => score],
];

export const kpiLabels: readonly (readonly [string, keyof ChainReport['kpis']])[] = [
  ['Total chains', 'total_chains'],
  ['Toxic combinations', 'toxic_combinations'],
  ['Danger chains', 'danger_chains'],
  ['Max chain risk', 'max_chain_risk'],
];

export const toJson = (report: ChainReport): string => `${JSON.stringify(report, null, 2)}\n`;

export const toCsv = (report: ChainReport): string =>
  [columns.map(([name]) => name), ...report.chains.map((row) => columns.map(([, read]) => read(row)))]
    .map(toCsvLine)
    .join('');

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
type Value = string | number | Markup | readonly Markup[];

/** Markup of a template; every value that is no markup is escaped, without exception. */
function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const write = (value: Value): string => {
    if (value instanceof Markup) return value.text;
    if (typeof value === 'string' || typeof value === 'number') return escapeText(String(value));
    return value.map(({ text }) => text).join('');
  };
  return new Markup(
    strings.map((text, index) => text + (index < values.length ? write(values[index] ?? '') : '')).join(''),
  );
}

const styles = [
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#1d2430}',
  'dl{display:grid;grid-template-columns:repeat(4,1fr);gap:1rem}',
  'dl div{border:1px solid #cfd6e0;border-radius:6px;padding:.75rem}dd{margin:0;font-size:1.6rem}',
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem;border-bottom:1px solid #e3e8ef}',
  '.critical{background:#fbd9d9}.high{background:#fde6cf}.medium{background:#fdf6cf}.low{background:#e4f2e4}',
].join('');

/** The section alone: the grid of figures and the table. */
export function toSection({ kpis, chains }: ChainReport): string {
  const cells = kpiLabels.map(([label, key]) => html`<div><dt>${label}</dt><dd>${kpis[key]}</dd></div>`);
  const rows = chains.map(
    (row) => html`<tr class="${row.tint}">${columns.map(([, read]) => html`<td>${read(row)}</td>`)}</tr>\n`,
  );
  const head = columns.map(([name]) => html`<th scope="col">${name}</th>`);
  const none = html`<tr><td colspan="6">No chains.</td></tr>\n`;
  return html`<dl>${cells}</dl>
<table><thead><tr>${head}</tr></thead><tbody>
${rows.length === 0 ? none : rows}</tbody></table>
`.text;
}

/** A page that needs nothing from elsewhere. */
export function toHtml(report: ChainReport): string {
  const { title, scope, generated_at: at } = report;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${new Markup(styles)}</style></head><body>
<h1>${title}</h1><p>${scope}, ${at}</p>
${new Markup(toSection(report))}</body></html>
`.text;
}
