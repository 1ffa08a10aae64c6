// Connections that ask again and again on the same socket, until told to stop; counts what they got. One that is told
// to close with its answer comes back on another, as every client must (RFC 9112 section 9.6): that is no failure.
import { connect } from 'node:net';
import { statusOf } from './raw-client.js';

export interface Hammer {
  stop(): Promise<{ readonly replies: number; readonly failures: number }>;
}

/** `target` gets a number appended, so that no two requests are the same. */
export function hammer(
  port: number,
  connections: number,
  target: string,
  onReply: (status: number, body: string) => void,
): Hammer {
  let isStopped = false;
  let replies = 0;
  let failures = 0;
  const run = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      let isTold = false;
      const ask = (): void => {
        text = '';
        socket.write(
          `GET ${target}&n=${replies} HTTP/1.1\r\nHost: a\r\nUser-Agent: test browser\r\nAccept: */*\r\n\r\n`,
        );
      };
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? -1);
        if (end === -1 || text.length < end + 4 + length) return;
        replies += 1;
        onReply(statusOf(text), text.slice(end + 4));
        if (isStopped) {
          socket.destroy();
          resolve();
        } else if (/\r\nconnection: close\r\n/i.test(text.slice(0, end + 2))) {
          isTold = true;
          socket.destroy();
          resolve(run());
        } else ask();
      });
      socket.on('error', () => (failures += 1));
      socket.on('close', () => {
        if (isTold) return;
        if (!isStopped) failures += 1;
        resolve();
      });
      ask();
    });
  const all = Array.from({ length: connections }, run);
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all(all);
      return { replies, failures };
    },
  };
}
