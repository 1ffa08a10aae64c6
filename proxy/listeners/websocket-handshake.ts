// The server's half of a WebSocket handshake (RFC 6455 sections 1.3 and 4.2) for listeners that write it themselves.
import { createHash } from 'node:crypto';
import type { TunnelAcceptance } from './listener.js';

/** RFC 6455 section 1.3. */
const handshakeGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * Fields of the 101 that tells the client: those of the upstream, with an accept key of our own. `key`: the client's
 * Sec-WebSocket-Key. An extension that the upstream took is told on only where messages are tunnelled as they come.
 */
export function handshakeFields(key: string, { headers, protocol, inspector }: TunnelAcceptance): string[] {
  // gatehouse:ignore weak-hash RFC 6455 wants SHA-1, and it protects nothing
  const accept = createHash('sha1')
    .update(key + handshakeGuid)
    .digest('base64');
  const fields = ['Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Accept', accept];
  if (protocol !== null) fields.push('Sec-WebSocket-Protocol', protocol);
  for (let index = 0; index < headers.length; index += 2) {
    const lower = (headers[index] as string).toLowerCase();
    const isKeptExtension = lower === 'sec-websocket-extensions' && inspector === null;
    if (lower.startsWith('sec-websocket-') && !isKeptExtension) continue;
    fields.push(headers[index] as string, headers[index + 1] as string);
  }
  return fields;
}
