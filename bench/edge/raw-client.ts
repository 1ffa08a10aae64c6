// One connection of HTTP/1.1 with one request at a time, from an address of one's own choice, as cheap as Node can: the
// loads of this folder are to be bound by what they load.
import { connect, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');

export interface Answer {
  /** 0: the connection ended without one. */
  readonly status: number;
  readonly tookMs: number;
  readonly atMs: number;
}

export interface RawClientOptions {
  readonly port: number;
  /** Loopback has a whole /8 of them on Linux. */
  readonly from: string;
  readonly request: Buffer;
}

export class RawClient {
  private socket: Socket | null = null;
  private rest: Buffer = Buffer.alloc(0);
  private sentMs = 0;
  private told: ((answer: Answer) => void) | null = null;

  constructor(private readonly options: RawClientOptions) {}

  /** Never rejects. A connection that ended is opened again with the next request. */
  ask(): Promise<Answer> {
    return new Promise((resolve) => {
      this.told = resolve;
      this.sentMs = performance.now();
      this.socket ??= this.open();
      this.socket.write(this.options.request);
    });
  }

  private open(): Socket {
    const { port, from } = this.options;
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
    this.rest = Buffer.alloc(0);
    socket.on('data', (chunk) => this.received(socket, chunk));
    socket.on('error', () => {}); // "close" follows
    socket.on('close', () => this.ended(socket));
    return socket;
  }

  private received(socket: Socket, chunk: Buffer): void {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const end = this.rest.indexOf(headEnd);
    if (end < 0) return;
    const head = this.rest.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.rest.length < end + headEnd.length + length) return;
    this.rest = Buffer.alloc(0);
    if (/\r\nconnection: *close/i.test(head)) {
      this.socket = null;
      socket.destroy();
    }
    this.tell(Number(head.slice(9, 12)));
  }

  private ended(socket: Socket): void {
    if (this.socket !== socket) return;
    this.socket = null;
    this.tell(0);
  }

  private tell(status: number): void {
    const { told } = this;
    const atMs = performance.now();
    this.told = null;
    told?.({ status, tookMs: atMs - this.sentMs, atMs });
  }

  close(): void {
    const { socket } = this;
    this.socket = null;
    socket?.destroy();
  }
}

export function requestOf(path: string): Buffer {
  const fields = 'Host: bench.example.org\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) bench\r\nAccept: */*\r\n';
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${fields}\r\n`, 'latin1');
}
