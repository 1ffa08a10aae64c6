// A report as PDF, as one hands it to an auditor or a board: a cover, a summary in sentences with charts, the tables,
// and how to read them; each page says which of how many it is. Fonts are part of the file (fonts.ts). A letter that no
// font has is written as its number, `[U+1F600]`.
import PDFDocument from 'pdfkit';
import type { Tint } from '../chains/score.js';
import { drawChart } from './drawn/charts.js';
import { drawCover } from './drawn/cover.js';
import { drawShapes } from './drawn/shapes.js';
import { ink, margin, quietInk, Writer } from './drawn/writer.js';
import { fontsFor } from './fonts.js';
import { usualAccent } from './render.js';
import type { Report, Section } from './report.js';

const tints: Readonly<Record<Tint, string>> = {
  critical: '#fbd9d9',
  high: '#fde6cf',
  medium: '#fdf6cf',
  low: '#e4f2e4',
};
const padding = 4;

function drawRow(writer: Writer, widths: readonly number[], cells: readonly string[], fill: string): void {
  const { document, lineHeight } = writer;
  const lines = cells.map((cell, index) => writer.linesOf(cell, (widths[index] ?? 0) - 2 * padding));
  const height = Math.max(...lines.map((one) => one.length)) * lineHeight + 2 * padding;
  writer.need(height);
  const top = document.y;
  let left = margin;
  for (const [index, one] of lines.entries()) {
    const width = widths[index] ?? 0;
    document.rect(left, top, width, height).fill(fill);
    writer.drawLines(one, left + padding, top + padding);
    left += width;
  }
  document.x = margin;
  document.y = top + height;
}

function heading(writer: Writer, text: string, size = 15): void {
  writer.size = size;
  writer.need(size * 4);
  writer.paragraph(text);
  writer.document.y += 6;
}

function drawTable(writer: Writer, { columns, rows, none }: Section): void {
  const { document } = writer;
  const widths = columns.map(({ width }) => width);
  const names = columns.map(({ name }) => name);
  writer.size = 8;
  drawRow(writer, widths, names, headFill);
  for (const { tint, cells } of rows) {
    const texts = cells.map(String);
    const lines = texts.map((cell, index) => writer.linesOf(cell, (widths[index] ?? 0) - 2 * padding).length);
    const height = Math.max(...lines) * writer.lineHeight + 2 * padding;
    const before = document.bufferedPageRange().count;
    writer.need(height);
    // a page that begins within a table names its columns again
    if (document.bufferedPageRange().count > before) drawRow(writer, widths, names, headFill);
    drawRow(writer, widths, texts, tints[tint]);
  }
  if (rows.length === 0) {
    document.y += 4;
    writer.paragraph(none);
  }
}
const headFill = '#e3e8ef';

const tile = { width: 182.5, gap: 13, height: 50 } as const;

function drawFigures(writer: Writer, figures: Section['figures']): void {
  const { document } = writer;
  for (let from = 0; from < figures.length; from += 4) {
    writer.need(tile.height + 10);
    const top = document.y;
    for (const [index, [label, value]] of figures.slice(from, from + 4).entries()) {
      const left = margin + index * (tile.width + tile.gap);
      document.roundedRect(left, top, tile.width, tile.height, 4).lineWidth(0.75).stroke('#cfd6e0');
      writer.size = 8.5;
      writer.colour = quietInk;
      writer.line(label, left + 10, top + 8, { room: tile.width - 20 });
      writer.size = 17;
      writer.colour = ink;
      writer.line(value.toLocaleString('en-GB'), left + 10, top + 23, { room: tile.width - 20 });
    }
    document.x = margin;
    document.y = top + tile.height + 12;
  }
}

/** Two beside each other. */
function drawCharts(writer: Writer, charts: Section['charts'], accent: string): void {
  const { document } = writer;
  const gap = 29;
  const width = (document.page.width - 2 * margin - gap) / 2;
  const drawn = (charts ?? []).map((chart) => drawChart(chart, width, accent));
  for (let from = 0; from < drawn.length; from += 2) {
    const pair = drawn.slice(from, from + 2);
    const height = Math.max(...pair.map((one) => one.height));
    writer.need(height + 14);
    const top = document.y;
    for (const [index, one] of pair.entries()) drawShapes(writer, one, margin + index * (width + gap), top);
    document.x = margin;
    document.y = top + height + 14;
  }
  writer.colour = ink;
}

function drawParagraphs(writer: Writer, lines: readonly string[] = []): void {
  if (lines.length === 0) return;
  writer.size = 10;
  for (const line of lines) {
    writer.paragraph(line);
    writer.document.y += 4;
  }
  writer.document.y += 8;
}

function drawSummary(writer: Writer, { sections, introduction }: Report, accent: string): void {
  heading(writer, 'Summary', 18);
  drawParagraphs(writer, introduction);
  for (const section of sections) {
    if (sections.length > 1) heading(writer, section.title, 13);
    drawParagraphs(writer, section.summary);
    drawFigures(writer, section.figures);
    drawCharts(writer, section.charts, accent);
  }
}

function drawNotes(writer: Writer, { sections, scope, period, shown_at: at }: Report): void {
  const methods = sections.filter(({ method }) => method !== undefined);
  const terms = new Map(sections.flatMap(({ definitions = [] }) => definitions));
  writer.document.addPage();
  heading(writer, 'Scope, method and definitions', 18);
  heading(writer, 'Scope', 12);
  drawParagraphs(writer, [`${scope}${period === undefined ? '' : `, ${period}`}. Built at ${at}.`]);
  for (const { title, method } of methods) {
    heading(writer, sections.length > 1 ? `Method: ${title}` : 'Method', 12);
    drawParagraphs(writer, method);
  }
  if (terms.size === 0) return;
  heading(writer, 'Definitions', 12);
  drawParagraphs(
    writer,
    [...terms].map(([term, meaning]) => `${term}: ${meaning}`),
  );
}

function drawFooters(writer: Writer, { title, brand }: Report): void {
  const { document } = writer;
  const { start, count } = document.bufferedPageRange();
  writer.size = 8;
  writer.colour = quietInk;
  for (let page = start + 1; page < start + count; page++) {
    document.switchToPage(page);
    const y = document.page.height - margin - 8;
    const room = document.page.width - 2 * margin - 90;
    writer.line(brand === undefined ? title : `${brand.name} · ${title}`, margin, y, { room });
    const right = document.page.width - margin;
    writer.line(`Page ${page + 1} of ${count}`, right, y, { room: 90, align: 'right' });
  }
}

function* textsOf({ title, scope, sections, introduction = [], closing = [], brand, by = '' }: Report) {
  yield* [title, scope, by, brand?.name ?? '', brand?.tagline ?? ''];
  yield* introduction;
  yield* closing;
  for (const { title: name, columns, rows, none, summary = [], method = [], charts = [] } of sections) {
    yield* [name, none];
    yield* summary;
    yield* method;
    for (const chart of charts) if (chart.kind === 'bars') for (const { label } of chart.bars) yield label;
    for (const column of columns) yield column.name;
    for (const { cells } of rows) for (const cell of cells) yield String(cell);
  }
}

/** The bytes of the document; its dates are those of the report, so that the same report gives the same bytes. */
export async function toPdf(report: Report): Promise<Buffer> {
  const created = new Date(report.generated_at);
  const document = new PDFDocument({
    size: 'A4',
    layout: 'landscape',
    margin,
    bufferPages: true,
    lang: 'en',
    displayTitle: true,
    info: { Title: report.title, Author: report.brand?.name ?? '', CreationDate: created, ModDate: created },
  });
  const pieces: Buffer[] = [];
  document.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = new Promise<void>((resolve, reject) => {
    document.once('end', resolve);
    document.once('error', reject);
  });
  const accent = report.brand?.accent ?? usualAccent;
  const writer = new Writer(document, await fontsFor(textsOf(report)));
  drawCover(writer, report, accent);
  document.addPage();
  drawSummary(writer, report, accent);
  for (const section of report.sections) {
    document.addPage();
    heading(writer, section.title, 18);
    drawTable(writer, section);
  }
  document.y += 14;
  drawParagraphs(writer, report.closing);
  drawNotes(writer, report);
  drawFooters(writer, report);
  document.end();
  await ended;
  return Buffer.concat(pieces);
}
