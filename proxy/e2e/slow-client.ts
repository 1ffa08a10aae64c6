// A client of tests that takes its time: what it got so far, whether it was cut off, and a way to write now and then.
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';

export interface SlowClient {
  readonly socket: Socket;
  text: string;
  isClosed: boolean;
}

export interface SlowClientOptions {
  readonly localAddress?: string;
  readonly allowHalfOpen?: boolean;
}

/** Connected to a port of loopback; gone when the test ends. */
export function slowClient(t: Test, port: number, options: SlowClientOptions = {}): SlowClient {
  const client: SlowClient = {
    socket: connect({ port, host: '127.0.0.1', ...options }),
    text: '',
    isClosed: false,
  };
  t.teardown(() => client.socket.destroy());
  client.socket.on('error', () => {});
  client.socket.on('close', () => (client.isClosed = true));
  client.socket.on('data', (chunk) => (client.text += chunk.toString('latin1')));
  return client;
}

/** Writes `byte` each `everyMs`, until the connection ends. */
export function dribble({ socket }: SlowClient, byte: string, everyMs: number): void {
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else socket.write(byte);
  }, everyMs);
  socket.on('close', () => clearInterval(timer));
}
