// Who the client is: the peer, or whom trusted proxies in front name.
import { isIP } from 'node:net';
import { parseIpv6, type RequestHead } from '#engine';
import { findField, isToken, joinedField } from '../http/header-fields.js';
import { maskText } from '../masking/mask.js';
import type { AddressSet } from '../shared-state/address-set.js';

/** Behind trusted proxies the client is the right-most address that is not itself a trusted proxy. */
export function clientBehindProxies({ headers, clientIp }: RequestHead, trusted: AddressSet): string {
  // Several fields are one list: HAProxy adds its own field behind the one that the client sent.
  const hops = (joinedField(headers, 'x-forwarded-for') ?? '').split(',');
  let client = clientIp;
  for (let index = hops.length - 1; index >= 0; index -= 1) {
    const text = (hops[index] as string).trim();
    if (text === '') continue; // an empty member of a list says nothing (RFC 9110 section 5.6.1)
    const hop = addressOf(text);
    if (hop === null) return client; // not an address: what lies beyond it cannot be believed
    client = hop;
    if (!trusted.contains(hop)) return client;
  }
  return client;
}

/** The head as it was seen by the proxies in front; null: whoever sent it is no trusted proxy. */
export function behindTrustedProxy(head: RequestHead, trusted: AddressSet | null): RequestHead | null {
  if (trusted === null || !trusted.contains(head.clientIp)) return null;
  const clientIp = clientBehindProxies(head, trusted);
  return clientIp === head.clientIp ? head : { ...head, clientIp };
}

/**
 * The address of a hop as proxies write it: alone, with a port behind it (`192.0.2.1:4711`, `[2001:db8::1]:4711`), in
 * brackets, or quoted as in a Forwarded field (RFC 7239 section 6). Null for anything else. An IPv6 address without
 * brackets has no port: what looks like one is its last group.
 */
export function addressOf(text: string): string | null {
  if (isIP(text) !== 0) return text;
  const isQuoted = text.length > 2 && text.startsWith('"') && text.endsWith('"');
  const hop = isQuoted ? text.slice(1, -1) : text;
  const end = hop.startsWith('[') ? hop.indexOf(']') : hop.indexOf(':');
  const address = hop.startsWith('[') ? hop.slice(1, Math.max(1, end)) : end === -1 ? hop : hop.slice(0, end);
  const rest = end === -1 ? '' : hop.slice(hop.startsWith('[') ? end + 1 : end);
  if (isIP(address) !== (hop.startsWith('[') ? 6 : 4) || !isPortOrNothing(rest)) return null;
  return address;
}

/** Empty, or a colon and a port. */
function isPortOrNothing(text: string): boolean {
  if (text === '') return true;
  if (text.charCodeAt(0) !== 0x3a || text.length < 2 || text.length > 6) return false;
  for (let index = 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x30 || code > 0x39) return false;
  }
  return Number(text.slice(1)) <= 65_535;
}

/**
 * Whom a limit per client counts: an IPv4 address, or the /64 of an IPv6 address, because one subscriber has as many
 * addresses as there are in it (RFC 6177). What is no address counts as itself.
 */
export function clientKey(address: string): string {
  if (address.indexOf(':') === -1) return address;
  const zone = address.indexOf('%');
  const words = parseIpv6(zone === -1 ? address : address.slice(0, zone));
  if (words === null) return address;
  const [first, second, third, fourth] = words;
  if (first === 0 && second === 0 && third === 0xffff)
    return `${fourth >>> 24}.${(fourth >>> 16) & 255}.${(fourth >>> 8) & 255}.${fourth & 255}`;
  return `${first.toString(16)}:${second.toString(16)}/64`;
}

/**
 * An id from a trusted proxy: token characters only, of a length that logs and headers bear. One that is somebody's
 * card number, address or token is not taken: an id stands in every record, unmasked.
 */
export function acceptableRequestId(headers: readonly string[]): string | null {
  const id = findField(headers, 'x-request-id');
  return id !== null && id.length >= 8 && id.length <= 128 && isToken(id) && maskText(id, 'personal') === id
    ? id
    : null;
}
