import { finish, load } from '../bytes.js';
import type { Transformation } from '../transformation.js';

const slash = 0x2f;
const dot = 0x2e;
/** Characters; a longer value is not kept alive. */
const rememberedMax = 4096;

/**
 * Removes empty and self-referencing segments and resolves back-references, byte for byte as ModSecurity does: a
 * relative path keeps leading `..`, an absolute one never climbs above the root, a trailing slash stays or stays
 * absent. Segments are judged at their last byte, so that `a..` counts as a back-reference too (a quirk that rules may
 * rely on).
 */
function normalizeBytes(value: string): string {
  const bytes = load(value);
  const last = value.length - 1;
  const absolute = bytes[0] === slash;
  const trailing = bytes[last] === slash;
  let source = 0;
  let target = 0;
  let hitRoot = false;
  while (source <= last) {
    const atEnd = source === last;
    if (atEnd || bytes[source + 1] === slash) {
      // The last byte of a segment.
      if (!atEnd && bytes[source] === slash) {
        // empty segment: the run of slashes is skipped below
      } else if (bytes[source] === dot) {
        if (target > 0 && bytes[target - 1] === dot) {
          if (!absolute && (hitRoot || target - 2 <= 0)) hitRoot = true;
          else {
            target -= 3;
            while (target > 0 && bytes[target] !== slash) target -= 1;
            if (target <= 0) {
              hitRoot = true;
              target = absolute && atEnd ? 1 : 0;
            }
            if (atEnd) break;
            source += 1;
          }
        } else if (target === 0) {
          if (atEnd) break;
          source += 1;
        } else if (bytes[target - 1] === slash) {
          if (atEnd) break;
          target -= 1;
          source += 1;
        }
      } else if (target > 0) hitRoot = false;
    }
    if (bytes[source] === slash) {
      while (source < last && bytes[source + 1] === slash) source += 1;
      if (!absolute && target === 0) {
        source += 1;
        continue;
      }
    }
    bytes[target++] = bytes[source++] as number;
  }
  if (!trailing && target > 0 && bytes[target - 1] === slash) target -= 1;
  return target === value.length ? value : finish(value, bytes, target); // bytes are only taken out
}

let lastValue = '';
let lastResult = '';

/** Rules ask both forms of the transformation about a value, and without a backslash they are one. */
export function normalizePathBytes(value: string): string {
  if (value === lastValue) return lastResult;
  const result = normalizeBytes(value);
  if (value.length <= rememberedMax) {
    lastValue = value;
    lastResult = result;
  }
  return result;
}

function apply(value: string): string {
  if (!value.includes('.') && !value.includes('//')) return value;
  return normalizePathBytes(value);
}

/** `/./`, `//` and `dir/../` removed (ModSecurity reference, t:normalizePath). */
export const normalizePath: Transformation = { name: 'normalizePath', triggers: [slash, dot], apply };
