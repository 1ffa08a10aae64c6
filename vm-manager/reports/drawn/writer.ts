// Draws texts in a PDF at the place where the document is, line by line, in the first font that has each letter.
import PDFDocument from 'pdfkit';
import type { ReportFont } from '../fonts.js';
import { toLines, toPrintable, toRuns } from '../text-lines.js';

export const ink = '#1d2430';
export const quietInk = '#5a6675';
export const margin = 36;
/** Below everything else: the line with the number of the page. */
export const footer = 18;
/** Of a line, as a multiple of the size of its letters: what DejaVu Sans asks for. */
const lineFactor = 1.17;

export type Document = InstanceType<typeof PDFDocument>;

export class Writer {
  size = 9;
  colour: string = ink;

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
    document.fillColor(this.colour);
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
  paragraph(text: string, left = margin): void {
    const { document } = this;
    const width = document.page.width - margin - left;
    for (const line of this.linesOf(text, width)) {
      this.need(this.lineHeight);
      const top = document.y;
      this.drawLines([line], left, top);
      document.x = margin;
      document.y = top + this.lineHeight;
    }
  }

  /** One line, cut to `room` points. */
  line(text: string, x: number, y: number, { room, align = 'left' }: { room: number; align?: string }): void {
    const whole = toPrintable(text.replaceAll('\n', ' '), this.fonts);
    const widthOf = (one: string): number => this.linesWidth(one);
    let shown = whole;
    if (widthOf(whole) > room) {
      const letters = [...whole];
      while (letters.length > 0 && widthOf(`${letters.join('')}…`) > room) letters.pop();
      shown = `${letters.join('').trimEnd()}…`;
    }
    const width = widthOf(shown);
    this.drawLines([shown], align === 'right' ? x - width : align === 'middle' ? x - width / 2 : x, y);
  }

  linesWidth(text: string): number {
    let width = 0;
    for (const letter of text) {
      const code = letter.codePointAt(0) ?? 0;
      width += (this.fonts.find((font) => font.has(code))?.widthOf(code) ?? 0) * this.size;
    }
    return width;
  }

  space(): void {
    this.document.y += this.lineHeight;
  }

  need(height: number): void {
    const { document } = this;
    if (document.y + height > document.page.height - margin - footer) document.addPage();
  }
}
