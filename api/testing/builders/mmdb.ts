// A minimal MMDB file (MaxMind DB file format 2.0), written for tests: a tree of 32-bit records and its data.
export interface MmdbEntry {
  /** As bits from the first one. */
  readonly bits: string;
  readonly data: unknown;
}

const sized = (type: number, size: number, body: Buffer): Buffer => {
  const [short, extra] =
    size < 29 ? [size, []] : size < 285 ? [29, [size - 29]] : [30, [(size - 285) >> 8, (size - 285) & 255]];
  const head = type <= 7 ? [(type << 5) | short] : [short, type - 7];
  return Buffer.concat([Buffer.from([...head, ...extra]), body]);
};

function encode(value: unknown): Buffer {
  if (typeof value === 'string') return sized(2, Buffer.byteLength(value), Buffer.from(value));
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return sized(6, 4, bytes);
  }
  if (Array.isArray(value)) return sized(11, value.length, Buffer.concat(value.map(encode)));
  const entries = Object.entries(value as object);
  return sized(7, entries.length, Buffer.concat(entries.flatMap(([name, one]) => [encode(name), encode(one)])));
}

type Node = { sides: [Node | number | null, Node | number | null] };

/** Networks must not overlap. `builtAt` in seconds since 1970. */
export function mmdbOf(entries: readonly MmdbEntry[], ipVersion: 4 | 6, builtAt: number): Buffer {
  const rootNode: Node = { sides: [null, null] };
  const nodes = [rootNode];
  const data: Buffer[] = [];
  let bytes = 0;
  for (const { bits, data: given } of entries) {
    let node = rootNode;
    for (const bit of bits.slice(0, -1)) {
      const side = Number(bit) as 0 | 1;
      const below = node.sides[side];
      if (typeof below === 'number') throw new Error(`networks overlap at ${bits}`);
      const next: Node = below ?? { sides: [null, null] };
      if (below === null) nodes.push(next);
      node.sides[side] = next;
      node = next;
    }
    node.sides[Number(bits.at(-1)) as 0 | 1] = bytes;
    const encoded = encode(given);
    data.push(encoded);
    bytes += encoded.length;
  }
  const places = new Map(nodes.map((node, place) => [node, place]));
  const tree = Buffer.alloc(nodes.length * 8);
  for (const [place, { sides }] of nodes.entries())
    for (const [side, to] of sides.entries()) {
      const value =
        to === null ? nodes.length : typeof to === 'number' ? nodes.length + 16 + to : (places.get(to) ?? 0);
      tree.writeUInt32BE(value, place * 8 + side * 4);
    }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: builtAt,
    database_type: 'test',
    description: { en: 'test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 32,
  });
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from('abcdef4d61784d696e642e636f6d', 'hex'), metadata]);
}
