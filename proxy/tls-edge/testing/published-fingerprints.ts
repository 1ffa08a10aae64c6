// JA3 and JA4 once more, straight from their published descriptions and the bytes of the wire: a slow twin that shares
// no line with client-hello/, so that one mistake does not answer for both.
//
// JA3: github.com/salesforce/ja3, README. JA4: the description by FoxIO (of TLS clients, BSD-3).
// GREASE: RFC 8701. Layout of the hello: RFC 8446 section 4.1.2; of records: section 5.1.
import { createHash } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import type { Test } from 'tap';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const pairs = (text: string, width = 4): string[] => text.match(new RegExp(`.{${width}}`, 'g')) ?? [];
const withoutGrease = (list: readonly string[]): string[] => list.filter((value) => !/^([0-9a-f]a)\1$/.test(value));
const decimal = (list: readonly string[]): string => list.map((value) => Number.parseInt(value, 16)).join('-');
const sha12 = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** The handshake message out of its records, with the four bytes of its own head; null: it is not whole yet. */
function messageOf(wire: Buffer): Buffer | null {
  let message = Buffer.alloc(0);
  for (let at = 0; at + 5 <= wire.length; at += 5 + wire.readUInt16BE(at + 3))
    message = Buffer.concat([message, wire.subarray(at + 5, at + 5 + wire.readUInt16BE(at + 3))]);
  return message.length >= 4 && message.length >= 4 + message.readUIntBE(1, 3) ? message : null;
}

interface Published {
  readonly ja3: string;
  readonly ja4: string;
}

/** `wire`: what a client sent, from its first byte on. Throws where that is no whole hello. */
export function publishedFingerprints(wire: Buffer): Published {
  const message = messageOf(wire);
  if (message === null) throw new Error('no whole ClientHello');
  let rest = hex(message.subarray(4));
  const take = (bytes: number): string => {
    const part = rest.slice(0, bytes * 2);
    rest = rest.slice(bytes * 2);
    return part;
  };
  const counted = (width: number): string => take(Number.parseInt(take(width), 16));
  const legacy = take(2);
  take(32);
  counted(1);
  const ciphers = withoutGrease(pairs(counted(2)));
  counted(1);
  rest = rest === '' ? '' : counted(2);
  const found = new Map<string, string>();
  while (rest !== '') {
    const type = take(2);
    found.set(type, counted(2));
  }
  const types = withoutGrease([...found.keys()]);
  const listOf = (type: string, headBytes: number, width = 4): string[] =>
    withoutGrease(pairs((found.get(type) ?? '').slice(headBytes * 2), width));
  const ja3 = [legacy, ciphers, types, listOf('000a', 2), pairs((found.get('000b') ?? '').slice(2), 2)]
    .map((part) => (typeof part === 'string' ? decimal([part]) : decimal(part)))
    .join(',');
  const alpn = Buffer.from((found.get('0010') ?? '').slice(4), 'hex');
  const protocol = alpn.toString('latin1', 1, 1 + (alpn[0] ?? 0));
  const highest = [...listOf('002b', 1), ...(found.has('002b') ? [] : [legacy])].sort().at(-1) ?? '';
  const version = { '0304': '13', '0303': '12', '0302': '11', '0301': '10' }[highest] ?? '00';
  const two = (list: readonly string[]): string => String(Math.min(99, list.length)).padStart(2, '0');
  const head = `t${version}${found.has('0000') ? 'd' : 'i'}${two(ciphers)}${two(types)}`;
  const mark = protocol === '' ? '00' : `${protocol[0]}${protocol.at(-1)}`;
  const named = types.filter((type) => type !== '0000' && type !== '0010').sort();
  const algorithms = listOf('000d', 2);
  const last = named.join(',') + (algorithms.length === 0 ? '' : `_${algorithms.join(',')}`);
  return {
    ja3: createHash('md5').update(ja3).digest('hex'),
    ja4: `${head}${mark}_${sha12([...ciphers].sort().join(','))}_${sha12(last)}`,
  };
}

/** Takes the hello of everybody who comes, whole, and hangs up. */
export async function startHelloTrap(t: Test): Promise<{ readonly port: number; readonly hellos: Buffer[] }> {
  const hellos: Buffer[] = [];
  const server = createServer((socket) => {
    let wire = Buffer.alloc(0);
    socket.on('error', () => {}); // a client that is hung up on may say so
    socket.on('data', (chunk) => {
      wire = Buffer.concat([wire, chunk]);
      if (messageOf(wire) === null) return;
      hellos.push(wire);
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.address() as AddressInfo).port, hellos };
}
