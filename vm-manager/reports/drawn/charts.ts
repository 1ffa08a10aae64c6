// Charts of reports as shapes on a plane, drawn the same in PDF and in HTML (SVG). A chart says its numbers in letters
// too: nobody has to measure a bar, and a print in black and white loses nothing.

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** `#rrggbb`; absent: the accent. */
  readonly colour?: string;
}
/** A column of two parts on top of each other, or two columns side by side. */
export interface Column {
  readonly label: string;
  readonly values: readonly [number, number];
}
export type Chart =
  | { readonly kind: 'bars'; readonly title: string; readonly bars: readonly Bar[] }
  | {
      readonly kind: 'stacked' | 'beside';
      readonly title: string;
      readonly names: readonly [string, string];
      readonly columns: readonly Column[];
    };

export type Shape =
  | { readonly at: 'rect'; readonly box: readonly [x: number, y: number, w: number, h: number]; readonly fill: string }
  | {
      readonly at: 'text';
      readonly x: number;
      readonly y: number;
      readonly size: number;
      readonly text: string;
      readonly align: 'left' | 'right' | 'middle';
      /** Points that it may take. */
      readonly room: number;
    };

export interface Drawn {
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
}

const barsMax = 8;
const columnsMax = 92;
const lineColour = '#cfd6e0';
/** Of the two parts of columns; the second one is the accent. */
export const quietColour = '#9aa7b8';
const titleHeight = 20;
const barHeight = 15;
const barGap = 6;
const columnRoom = 110;

export const countText = (value: number): string => value.toLocaleString('en-GB');

const title = (text: string, width: number): Shape => ({
  ...{ at: 'text', x: 0, y: 0, size: 11, text, align: 'left', room: width },
});

function drawBars(chart: Chart & { kind: 'bars' }, width: number, accent: string): Drawn {
  const bars = chart.bars.slice(0, barsMax);
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const [left, right] = [Math.round(width * 0.38), 60];
  const shapes: Shape[] = [title(chart.title, width)];
  for (const [index, { label, value, colour = accent }] of bars.entries()) {
    const y = titleHeight + index * (barHeight + barGap);
    const length = ((width - left - right) * value) / most;
    shapes.push({ at: 'text', x: 0, y: y + 3, size: 8.5, text: label, align: 'left', room: left - 8 });
    if (value > 0) shapes.push({ at: 'rect', box: [left, y, Math.max(1, length), barHeight], fill: colour });
    const number = { at: 'text', y: y + 3, size: 8.5, text: countText(value), align: 'left', room: right } as const;
    shapes.push({ ...number, x: left + length + 5 });
  }
  return { width, height: titleHeight + bars.length * (barHeight + barGap), shapes };
}

/** 1, 2 or 5 times a power of ten, at least `value`. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= value) ?? value;
}

function drawColumns(chart: Chart & { kind: 'stacked' | 'beside' }, width: number, accent: string): Drawn {
  const { kind, names } = chart;
  const columns = chart.columns.slice(-columnsMax);
  const most = Math.max(...columns.map(({ values: [a, b] }) => (kind === 'stacked' ? a + b : Math.max(a, b))), 1);
  const top = roundUp(most);
  const left = 40;
  const base = titleHeight + 16 + columnRoom;
  const slot = (width - left) / Math.max(1, columns.length);
  const heightOf = (value: number): number => (value / top) * columnRoom;
  const shapes: Shape[] = [title(chart.title, width)];
  for (const [index, name] of names.entries()) {
    const x = left + index * 130;
    shapes.push({ at: 'rect', box: [x, titleHeight, 8, 8], fill: index === 0 ? quietColour : accent });
    shapes.push({ at: 'text', x: x + 12, y: titleHeight, size: 8, text: name, align: 'left', room: 115 });
  }
  for (const value of top < 2 ? [0, top] : [0, top / 2, top]) {
    const y = base - heightOf(value);
    shapes.push({ at: 'rect', box: [left, y, width - left, 0.5], fill: lineColour });
    const text = countText(value);
    shapes.push({ at: 'text', x: left - 5, y: y - 4, size: 8, text, align: 'right', room: left - 5 });
  }
  const every = Math.max(1, Math.ceil(58 / slot));
  for (const [index, { label, values }] of columns.entries()) {
    const x = left + index * slot;
    const room = slot * 0.76;
    let y = base;
    for (const [part, value] of values.entries()) {
      const height = heightOf(value);
      const place = kind === 'stacked' ? x : x + (part * room) / 2;
      const top = kind === 'stacked' ? (y -= height) : base - height;
      const wide = kind === 'stacked' ? room : room / 2;
      const fill = part === 0 ? quietColour : accent;
      if (value > 0) shapes.push({ at: 'rect', box: [place, top, wide, height], fill });
    }
    if (index % every === 0)
      shapes.push({ at: 'text', x, y: base + 5, size: 8, text: label, align: 'left', room: every * slot });
  }
  return { width, height: base + 18, shapes };
}

/** `accent`: `#rrggbb`. Of more bars or columns than there is room for, the first bars and the last columns. */
export const drawChart = (chart: Chart, width: number, accent: string): Drawn =>
  chart.kind === 'bars' ? drawBars(chart, width, accent) : drawColumns(chart, width, accent);
