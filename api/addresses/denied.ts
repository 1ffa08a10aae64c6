// What may stand in a list of clients that are denied, challenged or slowed down.
import { toNetwork, type PrefixLimits, type ReadNetwork } from './network.js';

/** Networks so wide that they mean half the internet are refused. */
export const denyPrefixes: PrefixLimits = { ipv4: 8, ipv6: 16 };

/** One entry in canonical form, or why not. */
export const toDenied = (text: string): ReadNetwork => toNetwork(text, denyPrefixes);
