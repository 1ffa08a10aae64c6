// The first page: whose report it is, about what, over which time, when and by whom it was built.
import type { Report } from '../report.js';
import { ink, margin, quietInk, type Writer } from './writer.js';

const left = margin + 40;
const logoRoom = [220, 70] as const;

export function drawCover(writer: Writer, report: Report, accent: string): void {
  const { document } = writer;
  const { brand, title, scope, period, shown_at: at, by } = report;
  const { width, height } = document.page;
  document.rect(0, 0, 18, height).fill(accent);
  const top = margin + 24;
  const hasLogo = brand?.logo != null;
  if (hasLogo) document.image(brand.logo, left, top, { fit: [...logoRoom] });
  const beside = left + (hasLogo ? logoRoom[0] + 16 : 0);
  writer.size = 20;
  writer.line(brand?.name ?? '', beside, top + (hasLogo ? 16 : 0), { room: width - margin - beside });
  if (brand?.tagline != null) {
    writer.size = 10;
    writer.colour = quietInk;
    writer.line(brand.tagline, beside, top + (hasLogo ? 42 : 28), { room: width - margin - beside });
    writer.colour = ink;
  }
  document.x = margin;
  document.y = height * 0.38;
  writer.size = 30;
  writer.paragraph(title, left);
  document.y += 8;
  document.rect(left, document.y, 64, 3).fill(accent);
  document.y += 18;
  writer.size = 12;
  for (const [label, value] of [
    ['Scope', scope],
    ['Period', period],
    ['Built', at],
    ['Built by', by],
  ] as const) {
    if (value === undefined || value === '') continue;
    const y = document.y;
    writer.colour = quietInk;
    writer.line(label, left, y, { room: 80 });
    writer.colour = ink;
    writer.line(value, left + 90, y, { room: width - margin - left - 90 });
    document.y = y + writer.lineHeight + 5;
  }
}
