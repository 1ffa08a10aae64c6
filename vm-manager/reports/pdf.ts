// A report as PDF: the same grid and table. The standard fonts of PDF know Latin-1 only; other characters are
// shown as "?" (the HTML and JSON forms have them all), arrows as ">".
import PDFDocument from 'pdfkit';
import type { Tint } from '../chains/score.js';
import type { Report, Section } from './report.js';

const tints: Readonly<Record<Tint, string>> = {
  critical: '#fbd9d9',
  high: '#fde6cf',
  medium: '#fdf6cf',
  low: '#e4f2e4',
};
const margin = 36;
const padding = 4;

const printable = (text: string): string =>
  text
    .replaceAll('→', '>')
    .replaceAll('’', "'")
    .replace(/[^\n\x20-\x7e\xa0-\xff]/gu, '?');

type Document = InstanceType<typeof PDFDocument>;

function drawRow(document: Document, widths: readonly number[], cells: readonly string[], fill: string): void {
  const heights = cells.map((cell, index) =>
    document.heightOfString(cell, { width: (widths[index] ?? 0) - 2 * padding }),
  );
  const height = Math.max(...heights) + 2 * padding;
  if (document.y + height > document.page.height - margin) document.addPage();
  const top = document.y;
  let left = margin;
  for (const [index, cell] of cells.entries()) {
    const width = widths[index] ?? 0;
    document.rect(left, top, width, height).fill(fill);
    document.fillColor('#1d2430').text(cell, left + padding, top + padding, { width: width - 2 * padding });
    left += width;
  }
  document.x = margin;
  document.y = top + height;
}

function drawSection(document: Document, { figures, columns, rows, none }: Section): void {
  const widths = columns.map(({ width }) => width);
  document.fontSize(12).text(figures.map(([label, value]) => `${label}: ${value}`).join('     '));
  document.moveDown().fontSize(8);
  drawRow(
    document,
    widths,
    columns.map(({ name }) => name),
    '#e3e8ef',
  );
  for (const { tint, cells } of rows)
    drawRow(
      document,
      widths,
      cells.map((cell) => printable(String(cell))),
      tints[tint],
    );
  if (rows.length === 0) document.text(none);
}

/** The bytes of the document; its dates are those of the report, so that the same report gives the same bytes. */
export async function toPdf(report: Report): Promise<Buffer> {
  const created = new Date(report.generated_at);
  const document = new PDFDocument({
    size: 'A4',
    layout: 'landscape',
    margin,
    info: { Title: printable(report.title), CreationDate: created, ModDate: created },
  });
  const pieces: Buffer[] = [];
  document.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = new Promise<void>((resolve, reject) => {
    document.once('end', resolve);
    document.once('error', reject);
  });
  document.fontSize(18).text(printable(report.title));
  document
    .fontSize(9)
    .text(printable(`${report.scope}, ${report.generated_at}`))
    .moveDown();
  for (const [index, section] of report.sections.entries()) {
    if (index > 0) document.addPage();
    if (report.sections.length > 1) document.fontSize(14).text(printable(section.title)).moveDown();
    drawSection(document, section);
  }
  document.end();
  await ended;
  return Buffer.concat(pieces);
}
