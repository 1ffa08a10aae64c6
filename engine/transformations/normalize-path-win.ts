import { normalizePathBytes } from './normalize-path.js';
import type { Transformation } from './transformation.js';

function apply(value: string): string {
  if (value === '') return value;
  const forward = value.includes('\\') ? value.replaceAll('\\', '/') : value;
  const normal = normalizePathBytes(forward);
  return normal === value ? value : normal;
}

/** As normalizePath, after every backslash became a slash (ModSecurity reference, t:normalizePathWin). */
export const normalizePathWin: Transformation = { name: 'normalizePathWin', triggers: [0x2f, 0x2e, 0x5c], apply };
