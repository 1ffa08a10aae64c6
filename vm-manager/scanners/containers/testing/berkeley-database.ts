// A database of RPM as Berkeley DB has it: a page of entries, values too long for it in chains of pages.

const pageBytes = 512;
const headBytes = 26;

export function berkeleyDatabase(values: readonly Buffer[], isLittle = true): Buffer {
  const pages: Buffer[] = [];
  const u16 = (page: Buffer, value: number, at: number): unknown =>
    isLittle ? page.writeUInt16LE(value, at) : page.writeUInt16BE(value, at);
  const u32 = (page: Buffer, value: number, at: number): unknown =>
    isLittle ? page.writeUInt32LE(value, at) : page.writeUInt32BE(value, at);
  const add = (type: number): Buffer => {
    const page = Buffer.alloc(pageBytes);
    u32(page, pages.length, 8);
    page[25] = type;
    pages.push(page);
    return page;
  };
  const meta = add(8);
  u32(meta, 0x061561, 12);
  u32(meta, 9, 16);
  u32(meta, pageBytes, 20);
  for (const [at, value] of values.entries()) {
    const table = add(at % 2 === 0 ? 13 : 2);
    const key = Buffer.alloc(5);
    key[0] = 1;
    u32(key, at + 1, 1);
    let item = Buffer.concat([Buffer.from([1]), value]);
    if (value.length > 300) {
      item = Buffer.alloc(12);
      item[0] = 3;
      u32(item, pages.length, 4);
      u32(item, value.length, 8);
      const room = pageBytes - headBytes;
      for (let from = 0; from < value.length; from += room) {
        const page = add(7);
        const part = value.subarray(from, from + room);
        part.copy(page, headBytes);
        u16(page, part.length, 22);
        if (from + room < value.length) u32(page, pages.length, 16);
      }
    }
    u16(table, 2, 20);
    const keyAt = pageBytes - key.length;
    const itemAt = keyAt - item.length;
    key.copy(table, keyAt);
    item.copy(table, itemAt);
    u16(table, keyAt, headBytes);
    u16(table, itemAt, headBytes + 2);
  }
  u32(meta, pages.length - 1, 32);
  return Buffer.concat(pages);
}
