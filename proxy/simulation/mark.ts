// Requests of a simulation: the control plane attacks its own data plane, and each request says as which client it
// comes. A node believes that of a signature only which nobody but the control plane can make, and of addresses only
// which no client of the internet can have (198.18.0.0/15, for benchmarks of network devices: RFC 2544 appendix C.2.2,
// RFC 6890). What is counted, banned or scored for such a client touches nobody else. The signature is of one request
// line to one host for half a minute: whoever reads one along the way can send the same request as the same client, and
// nothing else.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { RequestHead } from '#engine';
import { findField } from '../http/header-fields.js';

/** Never inspected and never forwarded, also where its signature is wrong. */
export const simulationField = 'x-gatehouse-simulation';
/** How many addresses simulated clients can have. */
export const simulatedClientsMax = 131_072;
/** Longer than a request of a simulation may wait, shorter than anybody has a use for it. */
export const markMs = 30_000;

/** The address of a simulated client by its number, from 0; beyond the last it begins again. */
export function simulatedAddress(number: number): string {
  const within = number % simulatedClientsMax;
  return `198.${18 + (within >>> 16)}.${(within >>> 8) & 255}.${within & 255}`;
}

/** 198.18.0.0/15, written with four numbers. */
export function isSimulatedAddress(address: string): boolean {
  const parts = /^198\.(18|19)\.(\d{1,3})\.(\d{1,3})$/.exec(address);
  return parts !== null && Number(parts[2]) < 256 && Number(parts[3]) < 256;
}

/** Of the signatures; made of the token that both planes have. */
export const simulationKeyOf = (adminToken: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', adminToken, '', 'gatehouse simulation', 32));

export interface MarkedRequest {
  readonly method: string;
  /** As on the wire. */
  readonly uri: string;
  readonly host: string;
}

const signatureOf = (key: Uint8Array, address: string, until: string, { method, uri, host }: MarkedRequest): Buffer =>
  createHmac('sha256', key).update([address, until, method, host, uri].join('\n'), 'latin1').digest();

/** The value of the field for one request of the client with that address; it ends at `untilMs`, by the wall clock. */
export function markOf(key: Uint8Array, address: string, untilMs: number, request: MarkedRequest): string {
  const until = String(Math.round(untilMs));
  return `${address} ${until} ${signatureOf(key, address, until, request).toString('base64url')}`;
}

/** What a node asks of each request. */
export class SimulatedClients {
  private readonly key: Uint8Array;

  constructor(key: Uint8Array) {
    this.key = key;
  }

  /** The head as of the simulated client, without the field; null: it is no such request, or says so wrongly. */
  read(head: RequestHead, nowMs: number): RequestHead | null {
    const { headers } = head;
    let at = -1;
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      if (name.length !== simulationField.length || name.toLowerCase() !== simulationField) continue;
      if (at >= 0) return null; // twice: nobody signs that
      at = index;
    }
    if (at < 0) return null;
    const parts = (headers[at + 1] as string).split(' ');
    const [address = '', until = '', signature = ''] = parts;
    if (parts.length !== 3 || !isSimulatedAddress(address) || !/^\d{1,15}$/.test(until)) return null;
    const leftMs = Number(until) - nowMs;
    if (leftMs < 0 || leftMs > 2 * markMs) return null;
    const given = Buffer.from(signature, 'base64url');
    const host = findField(headers, 'host') ?? '';
    const right = signatureOf(this.key, address, until, { method: head.method, uri: head.uri, host });
    if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
    return { ...head, clientIp: address, headers: [...headers.slice(0, at), ...headers.slice(at + 2)] };
  }
}
