// Where services stand in the picture of who asks whom: whoever is asked stands right of who asks first. Each service
// is placed once, so that circles end, too.
export interface HopFacts {
  readonly caller: string;
  readonly callee: string;
  /** There were requests without an identity. */
  readonly unauthenticated: boolean;
}

export interface DrawnNode {
  /** In full; `label` is what its box has room for. */
  readonly name: string;
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Somebody asked it without an identity. */
  readonly isOpen: boolean;
}

export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly path: string;
  readonly isOpen: boolean;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

const usualNode = { width: 150, height: 34, labelMax: 20 };
const gap = { x: 110, y: 18 };
const margin = 10;
/** A picture of more shows nothing; the table has the rest. */
const edgesMax = 200;

/**
 * Column of each service: one right of the last that asks it, so that no line runs back through the boxes of its own
 * column. In a circle the hop that closes it does not count: it leads back wherever the services stand.
 */
function columnsOf(hops: readonly HopFacts[]): ReadonlyMap<string, number> {
  const callers = new Map<string, string[]>();
  for (const { caller, callee } of hops) callers.set(callee, [...(callers.get(callee) ?? []), caller]);
  const names = [...new Set(hops.flatMap(({ caller, callee }) => [caller, callee]))];
  const column = new Map<string, number>();
  const entered = new Set<string>();
  // Depth is bounded by the number of services, and that by the hops that a picture draws.
  const place = (name: string): number => {
    const known = column.get(name);
    if (known !== undefined) return known;
    entered.add(name);
    const before = (callers.get(name) ?? []).filter((caller) => !entered.has(caller) || column.has(caller));
    const at = before.reduce((most, caller) => Math.max(most, place(caller) + 1), 0);
    column.set(name, at);
    return at;
  };
  for (const name of names) place(name);
  return column;
}

/** `room`: of each box, in pixels and in characters. */
export function layOut(all: readonly HopFacts[], room: Partial<typeof usualNode> = {}): Drawing {
  const { labelMax, ...node } = { ...usualNode, ...room };
  const hops = all.slice(0, edgesMax);
  const columns = columnsOf(hops);
  const open = new Set(hops.filter(({ unauthenticated }) => unauthenticated).map(({ callee }) => callee));
  const filled = new Map<number, number>();
  const nodes = [...columns]
    .sort(([, one], [, other]) => one - other)
    .map(([name, column]): DrawnNode => {
      const row = filled.get(column) ?? 0;
      filled.set(column, row + 1);
      return {
        name,
        label: name.length > labelMax ? `${name.slice(0, labelMax - 1)}…` : name,
        x: margin + column * (node.width + gap.x),
        y: margin + row * (node.height + gap.y),
        ...node,
        isOpen: open.has(name),
      };
    });
  const byName = new Map(nodes.map((one) => [one.name, one]));
  /** A line over several columns has a row of its own in each between them, so that it runs behind no box. */
  const passes = (from: number, to: number): readonly { readonly x: number; readonly y: number }[] =>
    [...Array(Math.max(0, to - from - 1)).keys()].map((step) => {
      const column = from + 1 + step;
      const row = filled.get(column) ?? 0;
      filled.set(column, row + 1);
      const y = margin + row * (node.height + gap.y) + node.height / 2;
      return { x: margin + column * (node.width + gap.x), y };
    });
  const edges = hops.flatMap(({ caller, callee, unauthenticated }): DrawnEdge[] => {
    const [from, to] = [byName.get(caller), byName.get(callee)];
    if (from === undefined || to === undefined) return [];
    const [x, y] = [from.x + node.width, from.y + node.height / 2];
    const [toX, toY] = [to.x, to.y + node.height / 2];
    const bend = gap.x / 2;
    const stops = passes(columns.get(caller) ?? 0, columns.get(callee) ?? 0);
    const ends = [...stops, { x: toX, y: toY }];
    const begins = [{ x, y }, ...stops.map((stop) => ({ x: stop.x + node.width, y: stop.y }))];
    const curves = ends.map((end, index) => {
      const begin = begins[index] ?? end;
      const across = index < stops.length ? `H${end.x + node.width}` : '';
      return `C${begin.x + bend} ${begin.y} ${end.x - bend} ${end.y} ${end.x} ${end.y}${across}`;
    });
    return [{ from: caller, to: callee, path: `M${x} ${y}${curves.join('')}`, isOpen: unauthenticated }];
  });
  const columnCount = Math.max(1, ...nodes.map(({ x }) => (x - margin) / (node.width + gap.x) + 1));
  const rowCount = Math.max(1, ...filled.values());
  return {
    width: 2 * margin + columnCount * node.width + (columnCount - 1) * gap.x,
    height: 2 * margin + rowCount * (node.height + gap.y),
    nodes,
    edges,
  };
}
