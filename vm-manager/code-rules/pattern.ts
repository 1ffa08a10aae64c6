// Patterns that people write: of RE2, which takes no longer for a hostile text.
import RE2 from 're2';
import { unfit } from '../kit/endpoint.js';

/** Throws 422 for what RE2 does not take, or what is true of the empty text. */
export function requirePattern(pattern: string, path: string): void {
  let made: RE2;
  try {
    made = new RE2(pattern, 'gm');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw unfit(path, 'is no pattern of RE2', why.slice(0, 200));
  }
  if (made.test('')) throw unfit(path, 'is true of nothing at all', 'write something that has to stand there');
}
