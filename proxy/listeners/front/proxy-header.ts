// The header by which a proxy in front says whose connection it passes on: PROXY protocol versions 1 and 2, as HAProxy
// published them (proxy-protocol.txt). Only asked where a trusted proxy has to send one: whoever could choose whether
// there is a header could write one himself.
import { isIP, SocketAddress } from 'node:net';

export interface ProxiedAddresses {
  readonly clientIp: string;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
}

export type ProxyHeaderReading =
  | { readonly kind: 'more' }
  /** `addresses` null: the proxy speaks for itself (a health check), or of something that is no TCP connection. */
  | { readonly kind: 'header'; readonly bytes: number; readonly addresses: ProxiedAddresses | null }
  | { readonly kind: 'refused'; readonly reason: string };

/** Of version 1, line end included. */
const lineBytesMax = 107;
/** Of version 2, behind its 16 bytes: addresses and what cloud providers add to them. */
const extraBytesMax = 4096;
const signature = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
const headBytes = 16;
const checksumType = 0x03;

const more: ProxyHeaderReading = { kind: 'more' };
const refuse = (reason: string): ProxyHeaderReading => ({ kind: 'refused', reason });

/** `bytes`: all that came so far. */
export function readProxyHeader(bytes: Buffer): ProxyHeaderReading {
  const length = Math.min(bytes.length, signature.length);
  if (bytes.compare(signature, 0, length, 0, length) === 0) return length < signature.length ? more : readBinary(bytes);
  const begin = bytes.toString('latin1', 0, 6);
  return 'PROXY '.startsWith(begin) || begin === 'PROXY ' ? readLine(bytes) : refuse('there is no PROXY header');
}

function readLine(bytes: Buffer): ProxyHeaderReading {
  const text = bytes.toString('latin1', 0, lineBytesMax);
  const end = text.indexOf('\r\n');
  if (end === -1) return bytes.length >= lineBytesMax ? refuse('the PROXY line has no end') : more;
  const header = { kind: 'header', bytes: end + 2 } as const;
  const line = text.slice(0, end);
  if (line === 'PROXY UNKNOWN' || line.startsWith('PROXY UNKNOWN ')) return { ...header, addresses: null };
  const [, protocol, clientIp = '', serverIp = '', clientPort = '', serverPort = '', ...others] = line.split(' ');
  const family = protocol === 'TCP4' ? 4 : protocol === 'TCP6' ? 6 : -1;
  const isFine =
    others.length === 0 &&
    isIP(clientIp) === family &&
    isIP(serverIp) === family &&
    !line.includes('%') &&
    isPort(clientPort) &&
    isPort(serverPort);
  if (!isFine) return refuse('the PROXY line is none of version 1');
  const addresses = addressesOf(clientIp, Number(clientPort), serverIp, Number(serverPort));
  return { ...header, addresses };
}

const isPort = (text: string): boolean => /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;

/** Addresses as sockets have them: the shortest form, and IPv4 for what is mapped into IPv6. */
function plain(address: string): string {
  if (isIP(address) === 4) return address;
  const short = new SocketAddress({ address, family: 'ipv6' }).address;
  return short.startsWith('::ffff:') && isIP(short.slice(7)) === 4 ? short.slice(7) : short;
}

const addressesOf = (clientIp: string, clientPort: number, serverIp: string, serverPort: number): ProxiedAddresses => ({
  clientIp: plain(clientIp),
  clientPort,
  serverIp: plain(serverIp),
  serverPort,
});

function readBinary(bytes: Buffer): ProxyHeaderReading {
  if (bytes.length < headBytes) return more;
  const command = bytes[12] as number;
  if (command !== 0x20 && command !== 0x21) return refuse('the PROXY header has an unknown version or command');
  const extra = bytes.readUInt16BE(14);
  if (extra > extraBytesMax) return refuse(`the PROXY header is longer than ${extraBytesMax} bytes`);
  const length = headBytes + extra;
  if (bytes.length < length) return more;
  const isLocal = command === 0x20;
  const family = bytes[13] as number;
  const addressBytes = isLocal ? 0 : (addressLengths.get(family) ?? 0);
  if (addressBytes > extra) return refuse('the PROXY header is shorter than its addresses');
  if (!isLocal && !isWhole(bytes.subarray(0, length), headBytes + addressBytes))
    return refuse('the PROXY header has a wrong checksum, or ends within a value');
  const addresses = isLocal ? null : binaryAddresses(bytes, family);
  return { kind: 'header', bytes: length, addresses };
}

/** Family and transport → bytes of addresses and ports. Others (UDP, unspecified) say nothing of a TCP connection. */
const addressLengths: ReadonlyMap<number, number> = new Map([
  [0x11, 12],
  [0x12, 12],
  [0x21, 36],
  [0x22, 36],
  [0x31, 216],
  [0x32, 216],
]);

function binaryAddresses(bytes: Buffer, family: number): ProxiedAddresses | null {
  const at = headBytes;
  if (family === 0x11) {
    const address = (from: number): string => [...bytes.subarray(from, from + 4)].join('.');
    return addressesOf(address(at), bytes.readUInt16BE(at + 8), address(at + 4), bytes.readUInt16BE(at + 10));
  }
  if (family !== 0x21) return null;
  const address = (from: number): string =>
    Array.from({ length: 8 }, (_, word) => bytes.readUInt16BE(from + 2 * word).toString(16)).join(':');
  return addressesOf(address(at), bytes.readUInt16BE(at + 32), address(at + 16), bytes.readUInt16BE(at + 34));
}

/** Whether the values behind the addresses fill the header, and its checksum, where there is one, is right. */
function isWhole(header: Buffer, valuesAt: number): boolean {
  let at = valuesAt;
  while (at < header.length) {
    if (at + 3 > header.length) return false;
    const end = at + 3 + header.readUInt16BE(at + 1);
    if (end > header.length) return false;
    if (header[at] === checksumType) {
      if (end - at !== 7) return false;
      const blank = Buffer.from(header);
      blank.fill(0, at + 3, end);
      if (crc32c(blank) !== header.readUInt32BE(at + 3)) return false;
    }
    at = end;
  }
  return true;
}

/** CRC-32 of Castagnoli (RFC 3720 section 12.1), bit by bit: headers are short, and few have one. */
export function crc32c(bytes: Buffer): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (0x82f6_3b78 & -(crc & 1));
  }
  return ~crc >>> 0;
}
