// A report as PDF: the same grid and table, in fonts that are part of the file (fonts.ts). A letter that no font has is
// written as its number, `[U+1F600]`.
import PDFDocument from 'pdfkit';
import type { Tint } from '../chains/score.js';
import { fontsFor, type ReportFont } from './fonts.js';
import type { Report, Section } from './report.js';
import { toLines, toPrintable, toRuns } from './text-lines.js';

const tints: Readonly<Record<Tint, string>> = {
  critical: '#fbd9d9',
  high: '#fde6cf',
  medium: '#fdf6cf',
  low: '#e4f2e4',
};
const ink = '#1d2430';
const margin = 36;
const padding = 4;
/** Of a line, as a multiple of the size of its letters: what DejaVu Sans asks for. */
const lineFactor = 1.17;

type Document = InstanceType<typeof PDFDocument>;

/** Draws texts at the place where the document is, line by line. */
class Writer {
  size = 9;

  constructor(
    readonly document: Document,
    readonly fonts: readonly ReportFont[],
  ) {
    for (const [index, { file, member }] of fonts.entries())
      document.registerFont(String(index), file, member ?? undefined);
    document.font('0');
  }

  get lineHeight(): number {
    return this.size * lineFactor;
  }

  linesOf(text: string, width: number): string[] {
    return toLines(toPrintable(text, this.fonts), this.fonts, this.size, width);
  }

  drawLines(lines: readonly string[], left: number, top: number): void {
    const { document, fonts } = this;
    document.fillColor(ink);
    for (const [number, line] of lines.entries()) {
      let at = left;
      for (const { font, text } of toRuns(line, fonts)) {
        document.font(String(font)).fontSize(this.size);
        document.text(text, at, top + number * this.lineHeight, { lineBreak: false });
        at += document.widthOfString(text);
      }
    }
  }

  /** A paragraph over the width of the page; the next one goes below it. */
  paragraph(text: string): void {
    const { document } = this;
    for (const line of this.linesOf(text, document.page.width - 2 * margin)) {
      this.need(this.lineHeight);
      const top = document.y;
      this.drawLines([line], margin, top);
      document.x = margin;
      document.y = top + this.lineHeight;
    }
  }

  space(): void {
    this.document.y += this.lineHeight;
  }

  need(height: number): void {
    const { document } = this;
    if (document.y + height > document.page.height - margin) document.addPage();
  }
}

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

function drawSection(writer: Writer, { figures, columns, rows, none }: Section): void {
  const widths = columns.map(({ width }) => width);
  writer.size = 12;
  writer.paragraph(figures.map(([label, value]) => `${label}: ${value}`).join('     '));
  writer.space();
  writer.size = 8;
  drawRow(
    writer,
    widths,
    columns.map(({ name }) => name),
    '#e3e8ef',
  );
  for (const { tint, cells } of rows) drawRow(writer, widths, cells.map(String), tints[tint]);
  if (rows.length === 0) writer.paragraph(none);
}

function drawParagraphs(writer: Writer, lines: readonly string[] = []): void {
  if (lines.length === 0) return;
  writer.size = 10;
  for (const line of lines) writer.paragraph(line);
  writer.space();
}

function* textsOf({ title, scope, sections, introduction = [], closing = [] }: Report): Generator<string> {
  yield title;
  yield* introduction;
  yield* closing;
  yield scope;
  for (const { title: name, columns, rows, none } of sections) {
    yield name;
    yield none;
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
    info: { Title: report.title, CreationDate: created, ModDate: created },
  });
  const pieces: Buffer[] = [];
  document.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = new Promise<void>((resolve, reject) => {
    document.once('end', resolve);
    document.once('error', reject);
  });
  const writer = new Writer(document, await fontsFor(textsOf(report)));
  writer.size = 18;
  writer.paragraph(report.title);
  writer.size = 9;
  writer.paragraph(`${report.scope}, ${report.shown_at}`);
  writer.space();
  drawParagraphs(writer, report.introduction);
  for (const [index, section] of report.sections.entries()) {
    if (index > 0) document.addPage();
    if (report.sections.length > 1) {
      writer.size = 14;
      writer.paragraph(section.title);
      writer.space();
    }
    drawSection(writer, section);
  }
  drawParagraphs(writer, report.closing);
  document.end();
  await ended;
  return Buffer.concat(pieces);
}
