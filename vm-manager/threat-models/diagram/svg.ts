// The picture of a model as SVG: shapes of data-flow diagrams, boundaries dashed, open threats as a number at each.
import { severityNames } from '../../findings/words.js';
import type { Dfd, Element, Flow } from '../model.js';
import { layOut, type Box, type Placed } from './layout.js';

export interface Count {
  readonly open: number;
  /** 1 to 4. */
  readonly worst: number;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has none of them
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (one) => escapes[one] ?? '');
const cut = (text: string, max: number): string => {
  const signs = [...text];
  return signs.length > max ? `${signs.slice(0, max - 1).join('')}…` : text;
};

const tints = ['#6b7280', '#4b6bfb', '#b7791f', '#c2410c', '#b91c1c'] as const;
const style = `text{font:13px system-ui,sans-serif;fill:#1f2430}
.small{font-size:11px;fill:#5b6270}.shape{fill:#fff;stroke:#3b4254;stroke-width:1.4}
.band{fill:#f6f7fa;stroke:#8a91a3;stroke-dasharray:7 5}.outside{fill:#fdf3ee;stroke:#c2410c}
.flow{fill:none;stroke:#3b4254;stroke-width:1.3}.clear{stroke:#b91c1c;stroke-dasharray:5 4}
.halo{paint-order:stroke;stroke:#fff;stroke-width:4px}.count{fill:#fff;font-size:11px;font-weight:600}`;

function shapeOf({ kind }: Element, { x, y, width, height }: Box): string {
  if (kind === 'process')
    return `<rect class="shape" x="${x}" y="${y}" width="${width}" height="${height}" rx="${height / 2}"/>`;
  if (kind === 'person') return `<rect class="shape" x="${x}" y="${y}" width="${width}" height="${height}" rx="10"/>`;
  if (kind === 'external') return `<rect class="shape" x="${x}" y="${y}" width="${width}" height="${height}"/>`;
  return (
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="#fff"/>` +
    `<path class="shape" d="M${x} ${y}h${width}M${x} ${y + height}h${width}"/>`
  );
}

const badge = (x: number, y: number, { open, worst }: Count): string =>
  `<g><title>${open} open threats, the worst of them ${severityNames[worst] ?? ''}</title>` +
  `<circle cx="${x}" cy="${y}" r="11" fill="${tints[worst] ?? tints[0]}"/>` +
  `<text class="count" x="${x}" y="${y + 4}" text-anchor="middle">${open > 99 ? '99+' : open}</text></g>`;

function drawElement(element: Element, box: Box, count: Count | undefined): string {
  const [middle, text] = [box.x + box.width / 2, element.technology || element.kind];
  return (
    `<g><title>${escape(element.name)}</title>${shapeOf(element, box)}` +
    `<text x="${middle}" y="${box.y + 25}" text-anchor="middle">${escape(cut(element.name, 22))}</text>` +
    `<text class="small" x="${middle}" y="${box.y + 42}" text-anchor="middle">${escape(cut(text, 26))}</text></g>` +
    (count === undefined ? '' : badge(box.x + box.width - 6, box.y + 4, count))
  );
}

interface Line {
  readonly path: string;
  readonly x: number;
  readonly y: number;
}

/** From side to side where the columns differ, else around the right. `lane` keeps flows of one pair apart. */
function lineOf(from: Box, to: Box, lane: number): Line {
  const shift = lane * 16;
  const [y1, y2] = [from.y + from.height / 2 + shift, to.y + to.height / 2 + shift];
  if (from.x === to.x) {
    const [x, bow] = [from.x + from.width, from.x + from.width + 52 + shift];
    const low = y1 === y2 ? y2 + 26 : y2;
    return { path: `M${x} ${y1}C${bow} ${y1} ${bow} ${low} ${x} ${low}`, x: bow - 10, y: (y1 + low) / 2 };
  }
  const isForth = from.x < to.x;
  const [x1, x2] = isForth ? [from.x + from.width, to.x] : [from.x, to.x + to.width];
  const bend = (x2 - x1) / 2;
  return { path: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
}

function drawFlows(flows: readonly Flow[], { elements }: Placed, counts: ReadonlyMap<string, Count>): string {
  const lanes = new Map<string, number>();
  return flows
    .map((flow) => {
      const [from, to] = [elements.get(flow.from), elements.get(flow.to)];
      if (from === undefined || to === undefined) return '';
      const pair = [flow.from, flow.to].sort().join(' ');
      const lane = lanes.get(pair) ?? 0;
      lanes.set(pair, lane + 1);
      const { path, x, y } = lineOf(from, to, Math.ceil(lane / 2) * (lane % 2 === 0 ? 1 : -1));
      const count = counts.get(flow.id);
      return (
        `<g><title>${escape(`${flow.name} ${flow.protocol ?? ''}`)}</title>` +
        `<path class="flow${flow.encrypted === 'no' ? ' clear' : ''}" d="${path}" marker-end="url(#end)"/>` +
        `<text class="small halo" x="${x}" y="${y - 6}" text-anchor="middle">${escape(cut(flow.name, 18))}</text></g>` +
        (count === undefined ? '' : badge(x, y + 10, count))
      );
    })
    .join('\n');
}

/** `counts`: open threats by the id of what they are about. */
export function drawDfd(name: string, dfd: Dfd, counts: ReadonlyMap<string, Count>): string {
  const placed = layOut(dfd);
  const [width, height] = [Math.max(240, placed.width), Math.max(120, placed.height)];
  const bands = placed.boundaries.map(
    ({ of, x, y, width: w, height: h }) =>
      `<rect class="band${of.kind === 'internet' ? ' outside' : ''}" ` +
      `x="${x}" y="${y}" width="${w}" height="${h}" rx="8"/>` +
      `<text class="small" x="${x + 10}" y="${y + 16}">${escape(cut(of.name, 60))}</text>`,
  );
  const shapes = dfd.elements.map((element) => {
    const box = placed.elements.get(element.id);
    return box === undefined ? '' : drawElement(element, box, counts.get(element.id));
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escape(name)}</title><style>${style}</style>`,
    '<defs><marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">' +
      '<path d="M0 0L10 5L0 10z" fill="#3b4254"/></marker></defs>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...bands,
    drawFlows(dfd.flows ?? [], placed, counts),
    ...shapes,
    '</svg>',
    '',
  ].join('\n');
}
