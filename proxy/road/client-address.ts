// Who the client is: the peer, or whom trusted proxies in front name.
import { isIP } from 'node:net';
import type { RequestHead } from '#engine';
import { findField, isToken, joinedField } from '../http/header-fields.js';
import type { AddressSet } from '../shared-state/address-set.js';

/** Behind trusted proxies the client is the right-most address that is not itself a trusted proxy. */
export function clientBehindProxies({ headers, clientIp }: RequestHead, trusted: AddressSet): string {
  // Several fields are one list: HAProxy adds its own field behind the one that the client sent.
  const hops = (joinedField(headers, 'x-forwarded-for') ?? '').split(',');
  let client = clientIp;
  for (let index = hops.length - 1; index >= 0; index -= 1) {
    const hop = (hops[index] as string).trim();
    if (isIP(hop) === 0) return client; // not an address: what lies beyond it cannot be believed
    client = hop;
    if (!trusted.contains(hop)) return client;
  }
  return client;
}

/** An id from a trusted proxy: token characters only, of a length that logs and headers bear. */
export function acceptableRequestId(headers: readonly string[]): string | null {
  const id = findField(headers, 'x-request-id');
  return id !== null && id.length >= 8 && id.length <= 128 && isToken(id) ? id : null;
}
