// A hash table of Berkeley DB, as RPM before 4.16 writes it (`Packages`): pages of one size, pairs of key and value in
// pages of type 2 and 13, values that are too long in chains of pages of type 7. Either order of bytes.

const hashMagic = 0x061561;
const headBytes = 26;
const pageType = { unsorted: 2, overflow: 7, sorted: 13 } as const;
const itemType = { here: 1, elsewhere: 3 } as const;

interface Table {
  readonly bytes: Buffer;
  readonly pageBytes: number;
  readonly pages: number;
  u16(at: number): number;
  u32(at: number): number;
}

function tableOf(bytes: Buffer): Table {
  if (bytes.length < 512) throw new Error('is no database of RPM');
  const isLittle = bytes.readUInt32LE(12) === hashMagic;
  if (!isLittle && bytes.readUInt32BE(12) !== hashMagic) throw new Error('is no hash table of Berkeley DB');
  const u16 = (at: number): number => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const u32 = (at: number): number => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const pageBytes = u32(20);
  const isSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0;
  if (!isSize) throw new Error('has pages of a size that Berkeley DB does not write');
  const pages = Math.floor(bytes.length / pageBytes);
  if (u32(32) >= pages) throw new Error('ends before its last page');
  return { bytes, pageBytes, pages, u16, u32 };
}

/** A value in a chain of pages. */
function chained({ bytes, pageBytes, pages, u16, u32 }: Table, first: number, length: number): Buffer {
  if (length > bytes.length) throw new Error('has a value that is longer than the database');
  const parts: Buffer[] = [];
  let left = length;
  for (let page = first, seen = 0; left > 0; page = u32(page * pageBytes + 16), seen++) {
    const at = page * pageBytes;
    // a chain that leads back to itself ends here, too
    if (page === 0 || page >= pages || seen > pages || bytes[at + 25] !== pageType.overflow)
      throw new Error('has a chain of pages that leads nowhere');
    const here = Math.min(left, u16(at + 22), pageBytes - headBytes);
    if (here === 0) throw new Error('has a chain of pages that leads nowhere');
    parts.push(bytes.subarray(at + headBytes, at + headBytes + here));
    left -= here;
  }
  return Buffer.concat(parts, length);
}

/** Items of a page lie from its end downwards: each reaches to where the one before begins. */
function* valuesOfPage(table: Table, at: number): Generator<Buffer> {
  const { bytes, pageBytes, u16, u32 } = table;
  const entries = u16(at + 20);
  if (headBytes + entries * 2 > pageBytes) throw new Error('has a page with more entries than it has room for');
  for (let entry = 1; entry < entries; entry += 2) {
    const from = u16(at + headBytes + entry * 2);
    const to = u16(at + headBytes + (entry - 1) * 2);
    if (from >= to || to > pageBytes) throw new Error('has an entry outside of its page');
    const type = bytes[at + from];
    if (type === itemType.here) yield bytes.subarray(at + from + 1, at + to);
    else if (type === itemType.elsewhere && from + 12 <= to)
      yield chained(table, u32(at + from + 4), u32(at + from + 8));
    else throw new Error('has an entry of a kind that RPM does not write');
  }
}

/** Values of the table in the order of its pages. Throws for what is damaged. */
export function* valuesOf(bytes: Buffer): Generator<Buffer> {
  const table = tableOf(bytes);
  // chains that several entries share would make much of little
  let room = bytes.length * 2;
  for (let page = 1; page < table.pages; page++) {
    const at = page * table.pageBytes;
    const type = bytes[at + 25];
    if (type !== pageType.unsorted && type !== pageType.sorted) continue;
    for (const value of valuesOfPage(table, at)) {
      room -= value.length;
      if (room < 0) throw new Error('has values that share their pages');
      yield value;
    }
  }
}
