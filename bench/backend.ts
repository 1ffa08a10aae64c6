// The application behind every measured system: answers 200 with two bytes to anything, as cheaply as Node can, so that
// it is never the bottleneck. Started as a process of its own: `node build/bench/backend.js PORT`.
import { createServer, type Socket } from 'node:net';

const reply = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok', 'latin1');
const headEnd = Buffer.from('\r\n\r\n');

/**
 * Counts requests in a stream of bytes: heads end with an empty line, bodies are Content-Length or chunked. Enough for
 * the proxies under test, which frame correctly; anything else closes the connection.
 */
function serve(socket: Socket): void {
  let pending: Buffer = Buffer.alloc(0);
  let bodyLeft = 0;
  let isChunked = false;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy()); // a peer that resets is part of a benchmark
  socket.on('data', (chunk) => {
    let data: Buffer = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    let answers = 0;
    for (;;) {
      if (bodyLeft > 0) {
        const taken = Math.min(bodyLeft, data.length);
        bodyLeft -= taken;
        data = data.subarray(taken);
        if (bodyLeft > 0) break;
        answers++;
      } else if (isChunked) {
        const end = data.indexOf('0\r\n\r\n');
        if (end < 0) {
          data = data.subarray(Math.max(0, data.length - 4)); // the end may be split over two pieces
          break;
        }
        isChunked = false;
        data = data.subarray(end + 5);
        answers++;
      } else {
        const end = data.indexOf(headEnd);
        if (end < 0) break;
        const head = data.toString('latin1', 0, end).toLowerCase();
        data = data.subarray(end + 4);
        isChunked = head.includes('\r\ntransfer-encoding: chunked');
        const at = head.indexOf('\r\ncontent-length:');
        bodyLeft = at < 0 || isChunked ? 0 : Number.parseInt(head.slice(at + 17), 10);
        if (bodyLeft === 0 && !isChunked) answers++;
      }
    }
    pending = data;
    for (; answers > 0; answers--) socket.write(reply);
  });
}

createServer(serve).listen(Number(process.argv[2]), '127.0.0.1');
