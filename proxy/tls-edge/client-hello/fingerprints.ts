// JA3 (as published by Salesforce in 2017) and JA4 of TLS clients (as published by FoxIO under BSD-3; none of the other
// fingerprints of that family, which are licensed otherwise).
import { createHash } from 'node:crypto';
import { isGrease, type ClientHello } from './client-hello.js';

const known = (values: readonly number[]): number[] => values.filter((value) => !isGrease(value));
const hex4 = (value: number): string => value.toString(16).padStart(4, '0');
const twoDigits = (count: number): string => String(Math.min(count, 99)).padStart(2, '0');

/** `SSLVersion,Ciphers,Extensions,EllipticCurves,EllipticCurvePointFormats`, decimal, in the order of the wire. */
export function ja3String(hello: ClientHello): string {
  const { legacyVersion, ciphers, extensions, groups, pointFormats } = hello;
  const lists = [known(ciphers), known(extensions), known(groups), pointFormats];
  return [legacyVersion, ...lists.map((list) => list.join('-'))].join(',');
}

/** 32 hexadecimal digits. MD5 is what JA3 is made of: it names a client, and protects nothing. */
// gatehouse:ignore weak-hash JA3 is an MD5, and names a client
export const ja3Hash = (hello: ClientHello): string => createHash('md5').update(ja3String(hello)).digest('hex');

const versionNames: ReadonlyMap<number, string> = new Map([
  [0x0304, '13'],
  [0x0303, '12'],
  [0x0302, '11'],
  [0x0301, '10'],
  [0x0300, 's3'],
  [0x0002, 's2'],
  [0xfeff, 'd1'],
  [0xfefd, 'd2'],
  [0xfefc, 'd3'],
]);

const isAlphanumeric = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a);

/**
 * First and last character of the first protocol; of its hexadecimal digits where one of the two is no letter or digit.
 * (FoxIO's own samples print 99 there; the text of the specification is followed.)
 */
function alpnMark(alpn: Buffer | null): string {
  if (alpn === null || alpn.length === 0) return '00';
  const first = alpn[0] as number;
  const last = alpn[alpn.length - 1] as number;
  if (isAlphanumeric(first) && isAlphanumeric(last)) return String.fromCharCode(first, last);
  const digits = alpn.toString('hex');
  return `${digits[0] as string}${digits[digits.length - 1] as string}`;
}

/** The parts of a JA4 before any is hashed. */
interface Ja4Parts {
  readonly a: string;
  readonly ciphers: string;
  readonly extensions: string;
}

function ja4Parts(hello: ClientHello): Ja4Parts {
  const ciphers = known(hello.ciphers);
  const extensions = known(hello.extensions);
  const versions = known(hello.supportedVersions);
  const version = versionNames.get(versions.length === 0 ? hello.legacyVersion : Math.max(...versions)) ?? '00';
  const a =
    `t${version}${extensions.includes(0) ? 'd' : 'i'}${twoDigits(ciphers.length)}${twoDigits(extensions.length)}` +
    alpnMark(hello.firstAlpn);
  const named = extensions.filter((type) => type !== 0 && type !== 16);
  const algorithms = known(hello.signatureAlgorithms);
  return {
    a,
    ciphers: ciphers.map(hex4).sort().join(','),
    extensions:
      named.map(hex4).sort().join(',') + (algorithms.length === 0 ? '' : `_${algorithms.map(hex4).join(',')}`),
  };
}

/** JA4_r: the lists themselves. */
export function ja4Raw(hello: ClientHello): string {
  const { a, ciphers, extensions } = ja4Parts(hello);
  return `${a}_${ciphers}_${extensions}`;
}

const hash12 = (text: string): string =>
  text === '' ? '0'.repeat(12) : createHash('sha256').update(text).digest('hex').slice(0, 12);

/** 36 characters, `a_b_c`. */
export function ja4(hello: ClientHello): string {
  const { a, ciphers, extensions } = ja4Parts(hello);
  return `${a}_${hash12(ciphers)}_${hash12(extensions)}`;
}
