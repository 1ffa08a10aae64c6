// Ways out that are not HTTP, under the same guard: the name is resolved, every address of it is judged, and the
// connection goes to an address that was judged.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ApiError } from '../http-kit/index.js';

export interface StreamTarget {
  readonly transport: 'tcp' | 'tls';
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
  /** PEM of the authority that has signed the certificate; absent: those that Node.js trusts. */
  readonly ca?: string;
}

export type DatagramTarget = Omit<StreamTarget, 'transport' | 'ca'>;

/** Judges a name and returns its addresses; throws `outbound_refused` or `outbound_failed`. */
export type Judge = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

const failed = (host: string, port: number, cause: unknown): ApiError =>
  new ApiError('outbound_failed', `${host}:${port} ${cause instanceof Error ? cause.message : String(cause)}.`, {
    cause,
  });

/** An open connection; of TLS after its handshake, with the certificate checked against the name. */
export async function openStream(target: StreamTarget, judge: Judge): Promise<Socket> {
  const { host, port, transport, timeoutMs, ca } = target;
  const [first] = await judge(host);
  if (first === undefined) throw new ApiError('outbound_failed', `The name ${host} has no address.`);
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket: Socket =
      transport === 'tls'
        ? connectTls({ host: first.address, port, ...name, ...(ca === undefined ? {} : { ca }) })
        : connectTcp({ host: first.address, port });
    const alarm = setTimeout(() => refuse(new Error('did not answer in time')), timeoutMs);
    const refuse = (cause: unknown): void => {
      clearTimeout(alarm);
      socket.destroy();
      reject(failed(host, port, cause));
    };
    socket.once('error', refuse);
    socket.once(transport === 'tls' ? 'secureConnect' : 'connect', () => {
      clearTimeout(alarm);
      socket.off('error', refuse);
      resolve(socket);
    });
  });
}

/** A datagram socket that is connected, so that the answer "nobody listens there" reaches it as an error. */
export async function openDatagrams(target: DatagramTarget, judge: Judge): Promise<DatagramSocket> {
  const { host, port } = target;
  const [first] = await judge(host);
  if (first === undefined) throw new ApiError('outbound_failed', `The name ${host} has no address.`);
  const socket = createSocket(first.family === 6 ? 'udp6' : 'udp4');
  return new Promise((resolve, reject) => {
    const refuse = (cause: unknown): void => {
      socket.close();
      reject(failed(host, port, cause));
    };
    socket.once('error', refuse);
    socket.connect(port, first.address, () => {
      socket.off('error', refuse);
      resolve(socket);
    });
  });
}
