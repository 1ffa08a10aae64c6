import { normalizePathBytes } from './normalize-path.js';
import type { Transformation } from '../transformation.js';

function apply(value: string): string {
  const hasBackslash = value.includes('\\');
  if (!hasBackslash && !value.includes('.') && !value.includes('//')) return value;
  const forward = hasBackslash ? value.replaceAll('\\', '/') : value;
  const normal = normalizePathBytes(forward);
  return normal === value ? value : normal;
}

/**
 * As normalizePath, after every backslash became a slash; ModSecurity leaves one in some runs of three and more, which
 * would only hide a path (reference, t:normalizePathWin).
 */
export const normalizePathWin: Transformation = { name: 'normalizePathWin', triggers: [0x2f, 0x2e, 0x5c], apply };
