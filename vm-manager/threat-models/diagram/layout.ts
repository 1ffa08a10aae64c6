// Where things of a model stand in its picture: columns by the way that data goes, boundaries as bands within bands.
import type { Boundary, Dfd, Element } from '../model.js';

export const sizes = { width: 168, height: 56, column: 280, row: 84, pad: 16, head: 26, margin: 28 } as const;

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
export interface Placed {
  readonly elements: ReadonlyMap<string, Box>;
  readonly boundaries: readonly (Box & { readonly of: Boundary })[];
  readonly width: number;
  readonly height: number;
}

/** Columns: how many flows lie between an element and where data comes from; circles end. */
function columnsOf({ elements, flows = [] }: Dfd): Map<string, number> {
  const columns = new Map<string, number>();
  const isEnd = (id: string): boolean => flows.some(({ to, from }) => to === id && from !== id);
  const starts = elements.filter(({ id, kind }) => kind === 'person' || !isEnd(id)).map(({ id }) => id);
  const queue = starts.length > 0 ? starts : elements.slice(0, 1).map(({ id }) => id);
  for (const id of queue) columns.set(id, 0);
  for (let at = 0; at < queue.length; at++) {
    const from = queue[at] ?? '';
    for (const flow of flows)
      if (flow.from === from && !columns.has(flow.to)) {
        columns.set(flow.to, (columns.get(from) ?? 0) + 1);
        queue.push(flow.to);
      }
  }
  for (const { id } of elements) if (!columns.has(id)) columns.set(id, 0);
  return columns;
}

class Layout {
  readonly placed = new Map<string, Box>();
  readonly bands: (Box & { readonly of: Boundary })[] = [];
  private readonly dfd: Dfd;
  private readonly columns: ReadonlyMap<string, number>;

  constructor(dfd: Dfd) {
    [this.dfd, this.columns] = [dfd, columnsOf(dfd)];
  }

  private depthBelow(id: string): number {
    const inner = (this.dfd.boundaries ?? []).filter(({ parent }) => parent === id);
    return inner.length === 0 ? 1 : 1 + Math.max(...inner.map((one) => this.depthBelow(one.id)));
  }

  /** Elements beside each other by column, below each other within one. Returns the y below them. */
  private placeElements(elements: readonly Element[], top: number): number {
    const used = new Map<number, number>();
    for (const { id } of elements) {
      const column = this.columns.get(id) ?? 0;
      const row = used.get(column) ?? 0;
      used.set(column, row + 1);
      const [x, y] = [sizes.margin + 2 * sizes.pad + column * sizes.column, top + row * sizes.row];
      this.placed.set(id, { x, y, width: sizes.width, height: sizes.height });
    }
    return top + Math.max(0, ...used.values()) * sizes.row;
  }

  /** What stands in a boundary (undefined: in none), from `top` on. Returns the y below it and its columns. */
  place(of: string | undefined, top: number): number {
    const here = this.dfd.elements.filter(({ boundary }) => boundary === of);
    let y = this.placeElements(here, top);
    for (const inner of (this.dfd.boundaries ?? []).filter(({ parent }) => parent === of)) {
      const end = this.place(inner.id, y + sizes.head);
      const pad = sizes.pad * Math.min(3, this.depthBelow(inner.id));
      const [left, right] = this.extentOf(inner.id);
      const height = Math.max(sizes.row, end - y);
      this.bands.push({ of: inner, x: left - pad, y, width: right - left + 2 * pad, height });
      y += height + sizes.pad;
    }
    return y;
  }

  private extentOf(id: string): readonly [number, number] {
    const inside = (at: string | undefined): boolean => {
      if (at === undefined || at === id) return at === id;
      return inside((this.dfd.boundaries ?? []).find((one) => one.id === at)?.parent);
    };
    const boxes = this.dfd.elements.flatMap(({ id: own, boundary }) =>
      inside(boundary) ? (this.placed.get(own) ?? []) : [],
    );
    const start = sizes.margin + 2 * sizes.pad;
    return boxes.length === 0
      ? [start, start + sizes.width]
      : [Math.min(...boxes.map(({ x }) => x)), Math.max(...boxes.map(({ x }) => x)) + sizes.width];
  }
}

export function layOut(dfd: Dfd): Placed {
  const layout = new Layout(dfd);
  const end = layout.place(undefined, sizes.margin);
  const right = Math.max(0, ...[...layout.placed.values(), ...layout.bands].map(({ x, width }) => x + width));
  return {
    elements: layout.placed,
    // the outer ones first: what is inside is drawn over them
    boundaries: [...layout.bands].reverse(),
    width: right + sizes.margin,
    height: end + sizes.margin,
  };
}
