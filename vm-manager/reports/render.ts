// A report as JSON, CSV and HTML. The same report gives the same bytes. What comes from findings is escaped here:
// formulas in CSV (http-kit), markup in HTML.
import { toCsvLine } from '#http-kit';
import { drawChart, type Chart } from './drawn/charts.js';
import type { Report, Section } from './report.js';

export function toJson({ title, scope, generated_at, sections, introduction = [], closing = [] }: Report): string {
  const members = Object.assign({}, ...sections.map((section) => section.members)) as object;
  const summary = sections.flatMap((section) => section.summary ?? []);
  const words = {
    ...(summary.length === 0 ? {} : { summary }),
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

export const usualAccent = '#3f51b5';

const styles = [
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#1d2430}',
  'dl{display:grid;grid-template-columns:repeat(4,1fr);gap:1rem}',
  'dl div{border:1px solid #cfd6e0;border-radius:6px;padding:.75rem}dd{margin:0;font-size:1.6rem}',
  '.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1.5rem;margin:1rem 0}',
  'svg{width:100%;max-width:40rem}.terms{display:block}.terms div{border:0}.terms dd{margin:0 0 .5rem;font-size:1rem}',
  '.terms dt{font-weight:600}',
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem;border-bottom:1px solid #e3e8ef}',
  '.critical{background:#fbd9d9}.high{background:#fde6cf}.medium{background:#fdf6cf}.low{background:#e4f2e4}',
].join('');

/** Numbers are written beside bars, so that the picture has a name and nothing else for a screen reader. */
function toSvg(chart: Chart, accent: string): Markup {
  const { width, height, shapes } = drawChart(chart, 400, accent);
  const lettersMax = (room: number, size: number): number => Math.max(1, Math.floor(room / (size * 0.55)));
  const drawn = shapes.map((shape) => {
    if (shape.at === 'rect') {
      const [x, y, w, h] = shape.box.map((one) => String(Math.round(one * 100) / 100));
      return html`<rect x="${x ?? ''}" y="${y ?? ''}" width="${w ?? ''}" height="${h ?? ''}" fill="${shape.fill}"/>`;
    }
    const { x, y, size, room, align } = shape;
    const letters = [...shape.text];
    const most = lettersMax(room, size);
    const text = letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : shape.text;
    const anchor = { left: 'start', middle: 'middle', right: 'end' }[align];
    const at = [Math.round(x * 100) / 100, Math.round((y + size) * 100) / 100] as const;
    return html`<text x="${at[0]}" y="${at[1]}" font-size="${size}" text-anchor="${anchor}">${text}</text>`;
  });
  return html`<svg viewBox="0 0 ${width} ${Math.ceil(height)}" role="img" aria-label="${chart.title}">${drawn}</svg>\n`;
}

const toTerm = ([term, meaning]: readonly [string, string]): Markup => html`<dt>${term}</dt><dd>${meaning}</dd>`;

/** How the figures came about, and what their words mean. */
function toNotes(sections: readonly Section[]): Markup {
  const methods = sections.flatMap(({ method }) => method ?? []).map((line) => html`<p>${line}</p>\n`);
  const terms = [...new Map(sections.flatMap(({ definitions = [] }) => definitions))].map(toTerm);
  if (methods.length + terms.length === 0) return new Markup('');
  return html`<h2>Method and definitions</h2>\n${methods}<dl class="terms">${terms}</dl>\n`;
}

/** The section alone: sentences, the grid of figures, charts and the table. */
export function toSection(section: Section, accent = usualAccent): string {
  const { figures, columns, rows, none, summary = [], charts = [] } = section;
  const sentences = summary.map((line) => html`<p>${line}</p>\n`);
  const pictures =
    charts.length === 0
      ? new Markup('')
      : html`<div class="charts">${charts.map((chart) => toSvg(chart, accent))}</div>\n`;
  const cells = figures.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`);
  const lines = rows.map(
    (row) => html`<tr class="${row.tint}">${row.cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`,
  );
  const head = columns.map(({ name }) => html`<th scope="col">${name}</th>`);
  const empty = html`<tr><td colspan="${columns.length}">${none}</td></tr>\n`;
  return html`${sentences}<dl>${cells}</dl>
${pictures}<table><thead><tr>${head}</tr></thead><tbody>
${lines.length === 0 ? empty : lines}</tbody></table>
`.text;
}

/** A page that needs nothing from elsewhere. */
export function toHtml(report: Report): string {
  const { title, scope, shown_at: at, sections, introduction = [], closing = [], brand, period } = report;
  const about = [scope, ...(period === undefined ? [] : [period]), at].join(', ');
  const name = brand === undefined ? new Markup('') : html`<p>${brand.name}</p>\n`;
  const paragraphs = (lines: readonly string[]): Markup[] => lines.map((line) => html`<p>${line}</p>\n`);
  const shown = sections.map((section) => {
    const heading = sections.length === 1 ? new Markup('') : html`<h2>${section.title}</h2>\n`;
    return html`${heading}${new Markup(toSection(section, brand?.accent))}`;
  });
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${new Markup(styles)}</style></head><body>
${name}<h1>${title}</h1><p>${about}</p>
${paragraphs(introduction)}${shown}${paragraphs(closing)}${toNotes(sections)}</body></html>
`.text;
}
