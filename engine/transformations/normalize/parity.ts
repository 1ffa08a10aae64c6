// The three parity transformations treat the high bit as a parity bit. As in ModSecurity the ones of all eight bits are
// counted, so bytes that already carry a parity bit are judged with it: neither parityEven7bit nor parityOdd7bit is
// idempotent.
import { bytesWhere, finish, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

/** Whether the byte holds an odd number of ones: 0x6996 is the parity of each four-bit number. */
function isOdd(byte: number): boolean {
  return ((0x6996 >> ((byte ^ (byte >> 4)) & 0xf)) & 1) === 1;
}

function mapBytes(value: string, table: Uint8Array): string {
  const bytes = load(value);
  for (let index = 0; index < value.length; index += 1) bytes[index] = table[bytes[index] as number] as number;
  return finish(value, bytes, value.length);
}

function tableOf(map: (byte: number) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => map(byte));
}

const even = tableOf((byte) => (isOdd(byte) ? byte | 0x80 : byte & 0x7f));
const odd = tableOf((byte) => (isOdd(byte) ? byte & 0x7f : byte | 0x80));
const zero = tableOf((byte) => byte & 0x7f);

/** Sets the high bit so that the number of ones is even, else clears it. */
export const parityEven7bit: Transformation = {
  name: 'parityEven7bit',
  triggers: bytesWhere((byte) => even[byte] !== byte),
  apply: (value) => mapBytes(value, even),
};
/** Sets the high bit so that the number of ones is odd, else clears it. */
export const parityOdd7bit: Transformation = {
  name: 'parityOdd7bit',
  triggers: bytesWhere((byte) => odd[byte] !== byte),
  apply: (value) => mapBytes(value, odd),
};
/** Clears the high bit. Idempotent. */
export const parityZero7bit: Transformation = {
  name: 'parityZero7bit',
  triggers: bytesWhere((byte) => byte >= 0x80),
  apply: (value) => mapBytes(value, zero),
};
