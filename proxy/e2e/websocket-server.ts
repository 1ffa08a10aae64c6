// An application that speaks WebSocket, for tests.
import { createHash } from 'node:crypto';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A WebSocket server in a few lines: greets, echoes text, closes when told "bye". */
export async function startWebSocketServer(t: {
  teardown(end: () => void): void;
}): Promise<{ url: string; heads: string[]; heard: string[] }> {
  const heads: string[] = [];
  const heard: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    let head = '';
    let pending: Buffer = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      if (!head.includes('\r\n\r\n')) {
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        heads.push(head);
        if (head.includes('/refused')) {
          socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
          return;
        }
        const key = /sec-websocket-key: (.*)\r\n/i.exec(head)?.[1] ?? '';
        // gatehouse:ignore weak-hash RFC 6455 wants SHA-1
        const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
        const protocol = /sec-websocket-protocol/i.test(head) ? 'Sec-WebSocket-Protocol: chat\r\n' : '';
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${protocol}` +
            `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
        );
        socket.write(serverFrame(1, Buffer.from('welcome')));
        return;
      }
      pending = Buffer.concat([pending, chunk]);
      for (let frame = unmask(pending); frame !== null; frame = unmask(pending)) {
        pending = pending.subarray(frame.used);
        if (frame.opcode <= 2) heard.push(frame.payload.toString('latin1'));
        if (frame.opcode === 8) socket.end(serverFrame(8, frame.payload));
        else if (frame.payload.toString() === 'bye') socket.write(serverFrame(8, Buffer.from([0x0f, 0xa1])));
        else if (frame.opcode <= 2) socket.write(serverFrame(frame.opcode, frame.payload));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heads, heard };
}

/** Unmasked, as a server sends it; up to 64 KiB. */
export function serverFrame(opcode: number, payload: Buffer): Buffer {
  const head =
    payload.length < 126
      ? Buffer.from([0x80 | opcode, payload.length])
      : Buffer.from([0x80 | opcode, 126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([head, payload]);
}

/** The first masked frame of these bytes; null = it is not whole. */
function unmask(bytes: Buffer): { opcode: number; payload: Buffer; used: number } | null {
  if (bytes.length < 6) return null;
  const open = Buffer.from(bytes);
  const short = (open[1] as number) & 0x7f;
  const maskAt = short === 126 ? 4 : 2;
  const length = short === 126 ? open.readUInt16BE(2) : short;
  if (open.length < maskAt + 4 + length) return null;
  const payload = Buffer.from(open.subarray(maskAt + 4, maskAt + 4 + length));
  for (let index = 0; index < length; index += 1)
    payload[index] = (payload[index] as number) ^ (open[maskAt + (index & 3)] as number);
  return { opcode: (open[0] as number) & 15, payload, used: maskAt + 4 + length };
}
