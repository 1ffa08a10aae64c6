// What an installation looks like under another name: texts, a logo and one colour. The other shades are made of that
// colour so that text stays readable in both themes (WCAG 2.2: 4.5:1 for text, 3:1 for parts of the interface).
import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';

export interface Logo {
  readonly bytes: Buffer;
  readonly type: string;
}

export interface Branding {
  readonly brand: string;
  readonly brandSub: string;
  readonly tagline: string;
  /** null or absent: the built-in mark. */
  readonly logo?: Logo | null;
  /** `#rrggbb`; null or absent: the built-in colour. */
  readonly accent?: string | null;
}

const logoBytesMax = 256 * 1024;
const logoTypes: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

/** Throws an Error in words for a file that is not there, too large, or neither SVG nor PNG by name and content. */
export function readLogo(path: string): Logo {
  const type = logoTypes[extname(path).toLowerCase()];
  if (type === undefined) throw new Error(`${path} is neither .svg nor .png.`);
  const { size } = statSync(path);
  if (size > logoBytesMax) throw new Error(`${path} has ${size} bytes; a logo has ${logoBytesMax} at most.`);
  const bytes = readFileSync(path);
  const isPng = bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n';
  const isSvg = /^\s*<(?:\?xml|svg|!--|!doctype svg)/i.test(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  if (type === 'image/png' ? !isPng : !isSvg) throw new Error(`${path} is not what its name says.`);
  return { bytes, type };
}

type Colour = readonly [number, number, number];

/** null: not `#rrggbb`. */
export function colourOf(text: string): Colour | null {
  const [, red = '', green = '', blue = ''] = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text) ?? [];
  return red === '' ? null : [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)];
}

const textOf = (colour: Colour): string => `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** `share` of `other` in it. */
const mix = (colour: Colour, other: Colour, share: number): Colour =>
  [0, 1, 2].map((at) => Math.round((colour[at] ?? 0) * (1 - share) + (other[at] ?? 0) * share)) as unknown as Colour;

/** Of WCAG 2.2, 0 to 1. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Of WCAG 2.2, 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** The colour, with as much of `ink` in it as it needs to stand out from every one of `grounds`. */
function readable(colour: Colour, ink: Colour, grounds: readonly Colour[], ratio: number): Colour {
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = mix(colour, ink, share);
    if (grounds.every((ground) => contrast(mixed, ground) >= ratio)) return mixed;
  }
  return ink;
}

/** Ink and grounds of styles/tokens.css. */
const themes: readonly { readonly selector: string; readonly ink: Colour; readonly grounds: readonly Colour[] }[] = [
  {
    selector: ':root:root',
    ink: [0xe8, 0xec, 0xf1],
    grounds: [
      [0x0d, 0x10, 0x14],
      [0x1a, 0x1f, 0x27],
      [0x20, 0x26, 0x2f],
    ],
  },
  {
    selector: ':root:root[data-theme="light"]',
    ink: [0x14, 0x19, 0x1f],
    grounds: [
      [0xff, 0xff, 0xff],
      [0xf5, 0xf7, 0xf9],
      [0xed, 0xf1, 0xf5],
    ],
  },
];
const white: Colour = [255, 255, 255];
const black: Colour = [0, 0, 0];

/** The style sheet that lays this colour over the built-in one. */
export function coloursOf(accent: Colour): string {
  return themes
    .map(({ selector, ink, grounds }) => {
      const shown = readable(accent, ink, grounds, 3);
      const tint = mix(grounds[0] ?? ink, accent, 0.16);
      const words = readable(accent, ink, [...grounds, tint], 4.5);
      const on = contrast(white, shown) >= contrast(black, shown) ? white : black;
      const values = { accent: shown, 'accent-ink': words, 'accent-ground': tint, 'on-accent': on, 'series-1': shown };
      const lines = Object.entries(values).map(([name, colour]) => `  --${name}: ${textOf(colour)};\n`);
      return `${selector} {\n${lines.join('')}}\n`;
    })
    .join('');
}
