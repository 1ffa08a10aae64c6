// What is known of a site's paths: its templates, and of each one which paths are told apart. Of a template those paths
// are kept whose rank is lowest, whenever they came: so that a path which would be folded with the next look at the
// site can be added to its template at once, and the outcome is the same.
import { isData, segmentKind, segmentsOf } from '#proxy/contract';
import type { TemplateNode } from './learn.js';

export interface SiteForm {
  readonly tree: TemplateNode;
  /**
   * By the place where a template ends, and by method: the highest rank of a path that is told apart; a path beyond it
   * is none of them. Absent: there is room still.
   */
  readonly limits: ReadonlyMap<TemplateNode, ReadonlyMap<string, number>>;
}

/** Finds the place of a path; null: the path itself. */
export function foldedPlace({ tree, limits }: SiteForm, method: string, path: string): string | null {
  let node = tree;
  let folded = '';
  let hasParameter = false;
  for (const segment of segmentsOf(path)) {
    const literal = node.literals.get(segment);
    if (literal !== undefined) {
      folded += `/${segment}`;
      node = literal;
      continue;
    }
    const { parameter } = node;
    if (parameter === null) return null;
    if (segment.startsWith('{')) folded += `/${segment}`;
    else {
      const kind = segmentKind(segment);
      if (!parameter.takesWords && !isData(kind)) return null;
      folded += `/{${kind}}`;
    }
    hasParameter = true;
    node = parameter.node;
  }
  if (!hasParameter || !node.isEnd) return null;
  const limit = limits.get(node)?.get(method);
  return limit === undefined || rankOf(path) <= limit ? null : folded;
}

/**
 * The place of a path among others, the same everywhere and at all times: 53 bits of two multiplicative hashes. It
 * protects nothing: whoever chooses paths can choose which of them are told apart, and no sum depends on that.
 */
export function rankOf(path: string): number {
  let high = 0x9e3779b1;
  let low = 0x85ebca6b;
  for (let at = 0; at < path.length; at += 1) {
    const code = path.charCodeAt(at);
    high = Math.imul(high ^ code, 0x27d4eb2f);
    low = Math.imul(low ^ code, 0x165667b1);
  }
  high = Math.imul(high ^ (high >>> 15), 0x2c1b3c6d) ^ Math.imul(low ^ (low >>> 13), 0x297a2d39);
  low = Math.imul(low ^ (low >>> 16), 0x1b873593) ^ Math.imul(high ^ (high >>> 14), 0x5bd1e995);
  return (low >>> 0) * 2_097_152 + (high >>> 11);
}
