// Shapes of a chart, drawn in a PDF and written as SVG.
import type { Drawn } from './charts.js';
import { ink, type Writer } from './writer.js';

export function drawShapes(writer: Writer, { shapes }: Drawn, left: number, top: number): void {
  writer.colour = ink;
  for (const shape of shapes) {
    if (shape.at === 'rect') {
      const [x, y, w, h] = shape.box;
      writer.document.rect(left + x, top + y, w, h).fill(shape.fill);
      continue;
    }
    writer.size = shape.size;
    writer.line(shape.text, left + shape.x, top + shape.y, { room: shape.room, align: shape.align });
  }
}
