// A request head as the road gets it, from what the library read.
import type { IncomingMessage } from 'node:http';
import type { RequestHead } from '#engine';

export function headOf(request: IncomingMessage): RequestHead {
  const { socket } = request;
  return {
    method: request.method ?? '',
    uri: request.url ?? '',
    protocol: `HTTP/${request.httpVersion}`,
    headers: trimValues(request.rawHeaders),
    clientIp: plain(socket.remoteAddress),
    clientPort: socket.remotePort ?? 0,
    serverIp: plain(socket.localAddress),
    serverPort: socket.localPort ?? 0,
  };
}

/** IPv4 addresses of an IPv6 socket as IPv4 (RFC 4291 section 2.5.5.2). */
const plain = (address = ''): string => (address.startsWith('::ffff:') ? address.slice(7) : address);

/** llhttp trims spaces at the front only. */
function trimValues(raw: string[]): string[] {
  for (let index = 1; index < raw.length; index += 2) {
    const value = raw[index] as string;
    const last = value.charCodeAt(value.length - 1);
    if (last === 0x20 || last === 0x09) raw[index] = trimEnd(value);
  }
  return raw;
}

function trimEnd(value: string): string {
  let end = value.length;
  while (end > 0 && (value.charCodeAt(end - 1) === 0x20 || value.charCodeAt(end - 1) === 0x09)) end -= 1;
  return value.slice(0, end);
}
