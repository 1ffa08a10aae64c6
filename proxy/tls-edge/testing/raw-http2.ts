// A client of HTTP/2 that sends the very frames it is told to, for tests: libraries do not send what is forbidden.
import { connect as connectPlain } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { until } from '../../e2e/waiting.js';

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { endStream: 1, ack: 1, endHeaders: 4 } as const;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

type Field = readonly [name: string, value: string];

/** HPACK: every field a literal that is not indexed, without Huffman's code (RFC 7541 section 6.2.2). */
export function encodeFields(fields: readonly Field[]): Buffer {
  const text = (value: string): Buffer[] => [integer(value.length, 7), Buffer.from(value, 'latin1')];
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), ...text(name), ...text(value)]));
}

/** The same for one field, which the other side shall know by index 62 from then on (section 6.2.1). */
export function encodeIndexed(field: Field): Buffer {
  const literal = encodeFields([field]);
  literal[0] = 0x40;
  return literal;
}

function integer(value: number, prefixBits: number): Buffer {
  const max = 2 ** prefixBits - 1;
  if (value < max) return Buffer.from([value]);
  const bytes = [max];
  let rest = value - max;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

/** Of the first header block of a connection. */
function statusOf(block: Buffer): number {
  let at = 0;
  while (((block[at] as number) & 0xe0) === 0x20) {
    // A change of the table's size.
    if (((block[at] as number) & 0x1f) === 0x1f) while ((block[(at += 1)] as number) & 0x80);
    at += 1;
  }
  const first = block[at] as number;
  if (first & 0x80) return [200, 204, 206, 304, 400, 404, 500][(first & 0x7f) - 8] ?? 0;
  const length = block[at + 1] as number;
  const value = block.subarray(at + 2, at + 2 + (length & 0x7f));
  return Number(length & 0x80 ? digits(value) : value.toString('latin1'));
}

/** Three digits in Huffman's code: five bits for 0 to 2, six for the others. */
function digits(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  let text = '';
  for (let at = 0; text.length < 3; ) {
    const five = Number.parseInt(bits.slice(at, at + 5), 2);
    const six = Number.parseInt(bits.slice(at, at + 6), 2);
    text += five <= 2 ? String(five) : String(six - 0b011001 + 3);
    at += five <= 2 ? 5 : 6;
  }
  return text;
}

export class RawHttp2 {
  readonly frames: Frame[] = [];
  isClosed = false;
  private rest = Buffer.alloc(0);

  private constructor(readonly socket: TLSSocket) {
    socket.on('data', (chunk: Buffer) => this.received(chunk));
    socket.on('error', () => {}); // "close" follows
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  /** With the preface sent. `settings`: flat identifiers and values. `from`: another address of the loopback. */
  static async open(port: number, settings: readonly number[] = [], from = '127.0.0.1'): Promise<RawHttp2> {
    const plain = connectPlain({ port, host: '127.0.0.1', localAddress: from });
    const socket = connect({ socket: plain, ALPNProtocols: ['h2'], rejectUnauthorized: false });
    plain.on('error', () => {}); // the socket above tells
    plain.setNoDelay(true);
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', () => resolve());
      socket.once('error', reject);
      plain.once('close', () => reject(new Error('the connection was closed before a handshake')));
    });
    const client = new RawHttp2(socket);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    client.settings(settings);
    return client;
  }

  private received(chunk: Buffer): void {
    this.rest = Buffer.concat([this.rest, chunk]);
    while (this.rest.length >= 9) {
      const end = 9 + this.rest.readUIntBE(0, 3);
      if (this.rest.length < end) return;
      const [type, flag] = [this.rest[3] as number, this.rest[4] as number];
      const payload = Buffer.from(this.rest.subarray(9, end));
      this.frames.push({ type, flags: flag, stream: this.rest.readUInt32BE(5) & 0x7fff_ffff, payload });
      this.rest = this.rest.subarray(end);
    }
  }

  frame(type: number, flag: number, stream: number, payload: Buffer = Buffer.alloc(0)): void {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flag;
    head.writeUInt32BE(stream, 5);
    if (!this.socket.destroyed) this.socket.write(Buffer.concat([head, payload]));
  }

  settings(values: readonly number[]): void {
    const payload = Buffer.alloc((values.length / 2) * 6);
    for (let index = 0; index < values.length; index += 2) {
      payload.writeUInt16BE(values[index] as number, index * 3);
      payload.writeUInt32BE(values[index + 1] as number, index * 3 + 2);
    }
    this.frame(frameTypes.settings, 0, 0, payload);
  }

  headers(stream: number, fields: readonly Field[], isWhole: boolean): void {
    this.frame(frameTypes.headers, flags.endHeaders | (isWhole ? flags.endStream : 0), stream, encodeFields(fields));
  }

  /** Cuts a request short with CANCEL. */
  reset(stream: number): void {
    this.frame(frameTypes.reset, 0, stream, Buffer.from([0, 0, 0, 8]));
  }

  first(type: number, stream?: number): Frame | undefined {
    return this.frames.find((frame) => frame.type === type && (stream === undefined || frame.stream === stream));
  }

  /** A status; the code of a reset, or of the end of the connection, as text. Waits for one of them. */
  async outcome(stream: number): Promise<number | string> {
    const found = (): number | string | null => {
      const answer = this.first(frameTypes.headers, stream);
      if (answer !== undefined) return statusOf(answer.payload);
      const reset = this.first(frameTypes.reset, stream);
      if (reset !== undefined) return `reset ${reset.payload.readUInt32BE(0)}`;
      const goaway = this.first(frameTypes.goaway);
      if (goaway !== undefined) return `goaway ${goaway.payload.readUInt32BE(4)}`;
      return this.isClosed ? 'closed' : null;
    };
    await until(async () => found() !== null);
    return found() as number | string;
  }

  close(): void {
    this.socket.destroy();
  }
}
