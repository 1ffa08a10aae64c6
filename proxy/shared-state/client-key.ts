// Whom a limit counts: an IPv4 address, or the /64 of an IPv6 address. One subscriber is given a /64 at least (RFC 6177
// section 2) and may use any address in it, so that a limit of single IPv6 addresses would limit nobody.
//
// Keys are 64 bits in two halves, mixed with seeds of the process. Each half is a bijection of an IPv4 address.
import { parseIpv4, parseIpv6 } from '#engine';
import { mappedPrefix } from './networks.js';

/** MurmurHash3's finaliser (public domain): every bit of the input moves every bit of the output; a bijection. */
export function mix(word: number): number {
  let mixed = word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** What `write` with an encoding leads to, in half the time; the type declaration of Buffer leaves it out. */
interface LatinBuffer extends Buffer {
  latin1Write(text: string, offset: number, length: number): number;
}

/** Of this thread, for the text that is being read; a text is read four characters at a time, the low one first. */
const scratchBytes = 4096;
const scratch = Buffer.from(new ArrayBuffer(scratchBytes)) as unknown as LatinBuffer;
const scratchWords = new Int32Array(scratch.buffer);

/** Remembers the client that it read last: the gates of one request ask for the same one. */
export class ClientKey {
  low = 0;
  high = 0;
  private address = '';

  constructor(private readonly seeds: readonly [number, number]) {}

  /** `low` and `high` are then those of `address`. What is no address (a Unix socket's peer) is a key as well. */
  read(address: string): void {
    if (address === this.address) return;
    this.address = address;
    const [seed, other] = this.seeds;
    const number = parseIpv4(address);
    const words = number >= 0 ? null : wordsOf(address);
    const ipv4 = words !== null && words[0] === mappedPrefix ? words[1] : number;
    if (ipv4 >= 0) {
      this.low = mix(ipv4 ^ seed);
      this.high = mix(ipv4 ^ other);
      return;
    }
    if (words === null) {
      this.readText(address);
      return;
    }
    const [first, second] = words;
    this.low = mix(mix(first ^ seed) ^ second ^ 1);
    this.high = mix(mix(second ^ other) ^ first ^ 1);
  }

  /** The same for any text, such as the value of a header field. Latin1. */
  readText(text: string): void {
    this.address = ''; // whatever was remembered is not what the halves say any more
    let [low, high] = this.seeds;
    const count = (text.length + 3) >> 2;
    if (text.length > scratchBytes) return this.readLong(text);
    scratch.latin1Write(text, 0, scratchBytes);
    for (let at = text.length; at < count * 4; at += 1) scratch[at] = 0;
    for (let index = 0; index < count; index += 1) {
      const word = scratchWords[index] as number;
      low = Math.imul(low ^ word, 0x9e3779b1);
      low ^= low >>> 15;
      high = Math.imul(high + word, 0x85ebca77);
      high ^= high >>> 13;
    }
    this.low = mix(low ^ text.length);
    this.high = mix(high + text.length);
  }

  /** The same, character by character: a part of a longer string is asked for its string at each of them. */
  private readLong(text: string): void {
    let [low, high] = this.seeds;
    for (let at = 0; at < text.length; at += 4) {
      // beyond the end charCodeAt says NaN, which shifts as 0
      const word =
        text.charCodeAt(at) |
        (text.charCodeAt(at + 1) << 8) |
        (text.charCodeAt(at + 2) << 16) |
        (text.charCodeAt(at + 3) << 24);
      low = Math.imul(low ^ word, 0x9e3779b1);
      low ^= low >>> 15;
      high = Math.imul(high + word, 0x85ebca77);
      high ^= high >>> 13;
    }
    this.low = mix(low ^ text.length);
    this.high = mix(high + text.length);
  }
}

/** Null for what is no IPv6 address; of an IPv4-mapped one (RFC 4291 section 2.5.5.2), a mark and the IPv4 address. */
function wordsOf(address: string): readonly [number, number] | null {
  const zone = address.indexOf('%');
  const words = parseIpv6(zone < 0 ? address : address.slice(0, zone));
  if (words === null) return null;
  const isMapped = words[0] === 0 && words[1] === 0 && words[2] === mappedPrefix;
  return isMapped ? [mappedPrefix, words[3]] : [words[0], words[1]];
}

/** What a limit counts, as people read it: `192.0.2.1`, or `2001:db8:0:1::/64`. */
export function networkOf(address: string): string {
  const words = parseIpv4(address) >= 0 ? null : wordsOf(address);
  if (words === null) return address;
  if (words[0] === mappedPrefix) {
    const [, last] = words;
    return [last >>> 24, (last >>> 16) & 255, (last >>> 8) & 255, last & 255].join('.');
  }
  const groups = words.flatMap((word) => [Math.floor(word / 65_536), word % 65_536]);
  while (groups.at(-1) === 0) groups.pop();
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
