// CPU per request of every system as bars, one block per traffic. The axis is logarithmic (nginx and ModSecurity are
// two orders of magnitude apart) and every bar carries its figure.
import type { Results } from './results.js';
import type { Measure } from './statistics.js';

const width = 860;
const labelWidth = 250;
const barHeight = 22;
const colours: readonly (readonly [RegExp, string])[] = [
  [/^gatehouse/, '#0b6e5f'],
  [/ModSecurity/, '#b4532a'],
  [/./, '#8a94a6'],
];

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

interface Bar {
  readonly traffic: string;
  readonly system: string;
  readonly measure: Measure;
}

/** One system: its name, its median as a bar, its range as a line, its figure. `x` is the axis, `y` the upper edge. */
function drawBar({ system, measure }: Bar, y: number, x: (value: number) => number): string {
  const colour = colours.find(([pattern]) => pattern.test(system))?.[1] ?? '#8a94a6';
  const { median, min, max } = measure;
  const [from, to] = [labelWidth + x(min), labelWidth + x(max)];
  const [length, height] = [x(median).toFixed(1), barHeight - 4];
  const ends = `x1="${from.toFixed(1)}" x2="${to.toFixed(1)}" y1="${y + 9}" y2="${y + 9}"`;
  const figure = median >= 100 ? Math.round(median).toLocaleString('en-US') : median.toFixed(1);
  return [
    `<text x="${labelWidth - 10}" y="${y + 15}" text-anchor="end">${escape(system)}</text>`,
    `<rect x="${labelWidth}" y="${y}" width="${length}" height="${height}" rx="3" fill="${colour}"/>`,
    `<line ${ends} stroke="#1d2433" stroke-width="1.5"/>`,
    `<text x="${(to + 8).toFixed(1)}" y="${y + 15}">${figure}</text>`,
  ].join('');
}

/** The whole picture, `height` high. */
function drawing(height: number, parts: readonly string[]): string {
  const font = 'font-family="system-ui, sans-serif" font-size="13" fill="#1d2433"';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${font}>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...parts,
    '</svg>\n',
  ].join('');
}

/** null when the results have no CPU figures. */
export function toSvg(results: Results): string | null {
  const bars = results.rows
    .filter(({ key }) => /^proxy \/ .+ \/ CPU$/.test(key))
    .map(({ key, measure }): Bar => {
      const [, traffic = '', system = ''] = key.split(' / ');
      return { traffic, system, measure };
    });
  if (bars.length === 0) return null;
  const top = Math.max(...bars.map(({ measure }) => measure.max));
  const bottom = Math.max(1, Math.min(...bars.map(({ measure }) => measure.min)) / 2);
  const span = width - labelWidth - 90;
  const x = (value: number): number => (Math.log(Math.max(value, bottom) / bottom) / Math.log(top / bottom)) * span;
  let y = 20;
  const parts: string[] = [];
  for (const traffic of new Set(bars.map((bar) => bar.traffic))) {
    parts.push(
      `<text x="0" y="${y + 14}" font-weight="600">CPU per request, ${escape(traffic)} (µs, logarithmic)</text>`,
    );
    y += 28;
    for (const bar of bars.filter((each) => each.traffic === traffic)) {
      parts.push(drawBar(bar, y, x));
      y += barHeight;
    }
    y += 18;
  }
  return drawing(y, parts);
}
