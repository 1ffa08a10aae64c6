// Archives as hostile as a test wants them: what a well-behaved packer would not write.
import { deflateRawSync } from 'node:zlib';
import { pack } from 'tar-stream';

export interface Packed {
  readonly name: string;
  readonly data?: string | Buffer;
  /** The kind of a tar entry; of a zip entry `symlink` alone has a meaning. */
  readonly type?: 'file' | 'directory' | 'symlink' | 'link' | 'fifo';
  /** What a zip entry says of its unpacked size. */
  readonly claims?: number;
  readonly isEncrypted?: boolean;
}

/** CRC-32 (ISO 3309), bit by bit. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const bytesOf = ({ data = '' }: Packed): Buffer => (Buffer.isBuffer(data) ? data : Buffer.from(data));

/** A zip file (PKWARE APPNOTE 6.3) of deflated entries. */
export function zipOf(entries: readonly Packed[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const plain = bytesOf(entry);
    const packed = deflateRawSync(plain);
    const name = Buffer.from(entry.name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(entry.isEncrypted === true ? 1 : 0, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(plain), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(entry.claims ?? plain.length, 18);
    common.writeUInt16LE(name.length, 22);
    locals.push(Buffer.from('PK\x03\x04', 'latin1'), common, name, packed);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(entry.type === 'symlink' ? (0o120777 << 16) >>> 0 : 0, 6);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, rest, name);
    offset += 30 + name.length + packed.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, index, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

export async function tarOf(entries: readonly Packed[]): Promise<Buffer> {
  const archive = pack();
  for (const entry of entries) {
    const { name, type = 'file' } = entry;
    const isLink = type === 'symlink' || type === 'link';
    if (type === 'file') archive.entry({ name }, bytesOf(entry));
    else archive.entry({ name, type, ...(isLink ? { linkname: '/etc/hosts' } : {}) });
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
