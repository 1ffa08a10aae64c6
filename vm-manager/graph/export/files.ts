// Attack chains as files: for spreadsheets (csv), programs (json), other tools of threat intelligence (stix), and
// pictures (svg, mermaid). Pure: the same chains give the same bytes, but for the moment in a STIX bundle.
import { toCsvLine } from '#http-kit';
import { createHash } from 'node:crypto';
import type { ChainAnswer, ChainsAnswer, HopAnswer } from '../../chains/present.js';

const columns = [
  ...['chain_id', 'chain', 'kind', 'application', 'chain_score', 'danger', 'hop', 'vuln_id', 'title', 'severity'],
  ...['stage', 'technique', 'mitre', 'reachable', 'confirmed', 'score', 'location'],
];

function toCsv({ chains }: ChainsAnswer): string {
  const lines = chains.flatMap(({ id, name, kind, app, score, danger, hops }) =>
    hops.map((hop, at) =>
      toCsvLine([
        ...[id, name, kind, app.name, score, danger, at + 1, hop.vuln_id, hop.title, hop.severity],
        ...[hop.stage, hop.technique, hop.mitre, hop.reachable, hop.confirmed, hop.score, hop.location ?? ''],
      ]),
    ),
  );
  return toCsvLine(columns) + lines.join('');
}

/** An identifier that the same thing gets in every bundle (a UUID of version 5's form over a hash). */
function stixId(type: string, name: string): string {
  const hex = createHash('sha256').update(`gatehouse ${type} ${name}`).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, variant + hex.slice(17, 20)];
  return `${type}--${[...parts, hex.slice(20, 32)].join('-')}`;
}

type StixObject = Readonly<Record<string, unknown>> & { readonly id: string };

/** A bundle of STIX 2.1: applications, findings, techniques, their relations, and a grouping for each chain. */
function toStix({ chains }: ChainsAnswer, now: Date): string {
  const objects = new Map<string, StixObject>();
  const at = now.toISOString();
  const put = (type: string, key: string, members: object): string => {
    const id = stixId(type, key);
    if (!objects.has(id)) objects.set(id, { type, spec_version: '2.1', id, created: at, modified: at, ...members });
    return id;
  };
  const relate = (from: string, kind: string, to: string): string =>
    put('relationship', `${from} ${kind} ${to}`, { relationship_type: kind, source_ref: from, target_ref: to });
  const putHop = ({ vuln_id: id, title, technique, mitre }: HopAnswer): string[] => {
    const finding = put('vulnerability', id, {
      name: title,
      external_references: [{ source_name: 'gatehouse', external_id: id }],
    });
    const pattern = put('attack-pattern', mitre, {
      name: technique,
      external_references: [{ source_name: 'mitre-attack', external_id: mitre }],
    });
    return [finding, pattern, relate(pattern, 'targets', finding)];
  };
  for (const chain of chains) {
    const application = put('infrastructure', chain.app.id, { name: chain.app.name });
    const refs = chain.hops.flatMap(putHop);
    put('grouping', chain.id, {
      name: chain.name,
      description: `${chain.kind}, score ${chain.score}${chain.danger ? ', danger' : ''}`,
      context: 'attack-chain',
      object_refs: [...new Set([application, ...refs])],
    });
  }
  const id = stixId('bundle', [...objects.keys()].join(' '));
  return JSON.stringify({ type: 'bundle', id, objects: [...objects.values()] }, null, 1);
}

const short = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);

/** Text of a label in Mermaid: what could end it, or be read as markup, is written as its number. */
const label = (text: string, max = 60): string =>
  short(text.replace(/\s+/gu, ' '), max).replace(/[^\p{L}\p{N} .,:→…-]/gu, (sign) => `#${sign.codePointAt(0)};`);

function toMermaid({ chains }: ChainsAnswer): string {
  const drawn = chains.flatMap(({ name, score, hops }, at) => [
    `  subgraph c${at}["${label(name, 120)}, ${score}"]`,
    '    direction LR',
    ...hops.map((hop, index) => `    c${at}h${index}["${hop.stage_label}: ${label(hop.title)}, ${hop.mitre}"]`),
    ...hops.slice(1).map((_, index) => `    c${at}h${index} --> c${at}h${index + 1}`),
    '  end',
  ]);
  return `${['flowchart TB', ...drawn].join('\n')}\n`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Text in XML, without the characters that XML cannot have. */
const xml = (text: string, max: number): string =>
  short(text.replace(/[^\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, ' '), max).replace(
    /[&<>"]/g,
    (sign) => entities[sign] ?? sign,
  );

const box = { width: 220, height: 56, gap: 40, row: 108 } as const;

function drawChain({ name, score, danger, hops }: ChainAnswer, at: number): string {
  const top = at * box.row + 20;
  const drawn = hops.map((hop, index) => {
    const left = 20 + index * (box.width + box.gap);
    const middle = top + 14 + box.height / 2;
    const line = `<line x1="${left - box.gap}" y1="${middle}" x2="${left}" y2="${middle}" stroke="#555"/>`;
    return (
      (index === 0 ? '' : line) +
      `<rect x="${left}" y="${top + 14}" width="${box.width}" height="${box.height}" rx="4" fill="#fff" ` +
      `stroke="${hop.confirmed ? '#a11' : '#555'}"/>` +
      `<text x="${left + 8}" y="${top + 34}" font-weight="bold">${xml(`${hop.stage_label} ${hop.mitre}`, 32)}</text>` +
      `<text x="${left + 8}" y="${top + 54}">${xml(hop.title, 34)}</text>`
    );
  });
  const head = `<text x="20" y="${top}"${danger ? ' fill="#a11"' : ''}>${xml(`${score} ${name}`, 160)}</text>`;
  return `<g>${head}${drawn.join('')}</g>`;
}

function toSvg({ chains }: ChainsAnswer): string {
  const longest = Math.max(4, ...chains.map(({ hops }) => hops.length));
  const [width, height] = [longest * (box.width + box.gap) + 20, Math.max(1, chains.length) * box.row + 20];
  const inside = chains.length === 0 ? '<text x="20" y="30">No attack chains</text>' : chains.map(drawChain).join('\n');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#f7f7f7"/>\n${inside}\n</svg>\n`
  );
}

interface Format {
  readonly mediaType: string;
  readonly ending: string;
  readonly write: (answer: ChainsAnswer, now: Date) => string;
}

export const formatNames = ['csv', 'json', 'stix', 'svg', 'mermaid'] as const;
export const formats: Readonly<Record<(typeof formatNames)[number], Format>> = {
  csv: { mediaType: 'text/csv; charset=utf-8', ending: 'csv', write: toCsv },
  json: { mediaType: 'application/json', ending: 'json', write: (answer) => JSON.stringify(answer, null, 1) },
  stix: { mediaType: 'application/stix+json;version=2.1', ending: 'stix.json', write: toStix },
  svg: { mediaType: 'image/svg+xml', ending: 'svg', write: toSvg },
  mermaid: { mediaType: 'text/plain; charset=utf-8', ending: 'mmd', write: toMermaid },
};
