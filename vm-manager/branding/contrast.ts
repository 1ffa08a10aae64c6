// How far a colour stands out from the grounds of the console (WCAG 2.2, 1.4.3 and 1.4.11).
type Colour = readonly [number, number, number];

const colourOf = (text: string): Colour =>
  [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16)) as unknown as Colour;

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(colourOf(one)), luminance(colourOf(other))].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Grounds of the two themes, and what of an interface needs: 3 to 1. */
const grounds = { light: '#ffffff', dark: '#0d1014' } as const;
const needed = 3;

/** Ratios against the grounds of both themes; where one is too low the console takes a shade that is not. */
export function contrastOf(accent: string) {
  const ratio = (ground: string): number => Math.floor(contrast(accent, ground) * 100) / 100;
  const [light, dark] = [ratio(grounds.light), ratio(grounds.dark)];
  return { light, dark, adjusted: light < needed || dark < needed };
}
