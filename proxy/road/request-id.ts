// Request ids: 26 characters, sortable by time, unique across workers and restarts (Crockford base 32: 10 of time, 6 of
// this worker's random start, 10 of a counter that begins at random). No system call per request.
import { randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function encode(value: number, length: number): string {
  let text = '';
  let rest = value;
  for (let index = 0; index < length; index += 1) {
    text = (alphabet[rest % 32] as string) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

export function createRequestIds(): (nowMs: number) => string {
  const start = randomBytes(10);
  const worker = encode(start.readUInt32BE(0) % 2 ** 30, 6);
  let counter = start.readUInt32BE(4);
  let lastMs = -1;
  let prefix = '';
  let lowAt = -1;
  let low = 0;
  let counterHigh = '';
  return (nowMs) => {
    if (nowMs !== lastMs) {
      lastMs = nowMs;
      prefix = encode(nowMs, 10) + worker;
    }
    counter += 1;
    const high = Math.floor(counter / 1024);
    low = counter % 1024;
    if (high !== lowAt) {
      lowAt = high;
      counterHigh = encode(high, 8);
    }
    return prefix + counterHigh + (alphabet[low >> 5] as string) + (alphabet[low & 31] as string);
  };
}
