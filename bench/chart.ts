// CPU per request of every system as bars, one block per traffic. The axis is logarithmic (nginx and ModSecurity are
// two orders of magnitude apart) and every bar carries its figure.
import type { Results } from './results.js';

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

/** null when the results have no CPU figures. */
export function toSvg(results: Results): string | null {
  const bars = results.rows
    .filter(({ key }) => /^proxy \/ .+ \/ CPU$/.test(key))
    .map(({ key, measure }) => {
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
      const colour = colours.find(([pattern]) => pattern.test(bar.system))?.[1] ?? '#8a94a6';
      const { median, min, max } = bar.measure;
      parts.push(`<text x="${labelWidth - 10}" y="${y + 15}" text-anchor="end">${escape(bar.system)}</text>`);
      parts.push(
        `<rect x="${labelWidth}" y="${y}" width="${x(median).toFixed(1)}" height="${barHeight - 4}" rx="3" fill="${colour}"/>`,
      );
      parts.push(
        `<line x1="${(labelWidth + x(min)).toFixed(1)}" x2="${(labelWidth + x(max)).toFixed(1)}" y1="${y + 9}" y2="${y + 9}" stroke="#1d2433" stroke-width="1.5"/>`,
      );
      parts.push(
        `<text x="${(labelWidth + x(max) + 8).toFixed(1)}" y="${y + 15}">${median >= 100 ? Math.round(median).toLocaleString('en-US') : median.toFixed(1)}</text>`,
      );
      y += barHeight;
    }
    y += 18;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" font-family="system-ui, sans-serif" font-size="13" fill="#1d2433"><rect width="${width}" height="${y}" fill="#fff"/>${parts.join('')}</svg>\n`;
}
