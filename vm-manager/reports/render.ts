// A report as JSON, CSV and HTML. The same report gives the same bytes. What comes from findings is escaped here:
// formulas in CSV (http-kit), markup in HTML.
import { toCsvLine } from '#http-kit';
import type { Report, Section } from './report.js';

export function toJson({ title, scope, generated_at, sections, introduction = [], closing = [] }: Report): string {
  const members = Object.assign({}, ...sections.map((section) => section.members)) as object;
  const words = {
    ...(introduction.length === 0 ? {} : { introduction }),
    ...(closing.length === 0 ? {} : { closing }),
  };
  return `${JSON.stringify({ title, scope, generated_at, ...words, ...members }, null, 2)}\n`;
}

/** The table of each section, with an empty line between two. */
export const toCsv = ({ sections }: Report): string =>
  sections
    .map(({ columns, rows }) =>
      [columns.map(({ name }) => name), ...rows.map(({ cells }) => cells)].map(toCsvLine).join(''),
    )
    .join('\r\n');

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
export function toSection({ figures, columns, rows, none }: Section): string {
  const cells = figures.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`);
  const lines = rows.map(
    (row) => html`<tr class="${row.tint}">${row.cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`,
  );
  const head = columns.map(({ name }) => html`<th scope="col">${name}</th>`);
  const empty = html`<tr><td colspan="${columns.length}">${none}</td></tr>\n`;
  return html`<dl>${cells}</dl>
<table><thead><tr>${head}</tr></thead><tbody>
${lines.length === 0 ? empty : lines}</tbody></table>
`.text;
}

/** A page that needs nothing from elsewhere. */
export function toHtml({ title, scope, shown_at: at, sections, introduction = [], closing = [] }: Report): string {
  const paragraphs = (lines: readonly string[]): Markup[] => lines.map((line) => html`<p>${line}</p>\n`);
  const shown = sections.map((section) => {
    const heading = sections.length === 1 ? new Markup('') : html`<h2>${section.title}</h2>\n`;
    return html`${heading}${new Markup(toSection(section))}`;
  });
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${new Markup(styles)}</style></head><body>
<h1>${title}</h1><p>${scope}, ${at}</p>
${paragraphs(introduction)}${shown}${paragraphs(closing)}</body></html>
`.text;
}
