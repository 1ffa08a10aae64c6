// Which operation a path means. Templates of OpenAPI (`/files/{name}.{ext}`) over decoded segments; literal segments
// before parameters, as OpenAPI 3.1 section 4.8.8.2 wants it.
import { isPlainPath, pathOf, readingsOf } from '#engine';
import { pathKeys } from '../http/path-readings.js';
import type { SchemaPlan, PlannedOperation } from './plan.js';
import { fromUtf8 } from './texts.js';

export interface Found {
  readonly plan: SchemaPlan;
  /** Of one path, by method. */
  readonly operations: ReadonlyMap<string, PlannedOperation>;
  readonly template: string;
  /** Values of the template's parameters, decoded. */
  readonly values: ReadonlyMap<string, string>;
}

interface Leaf {
  readonly plan: SchemaPlan;
  readonly template: string;
  readonly segments: readonly Segment[];
  readonly operations: Map<string, PlannedOperation>;
}

/** Literals and names by turns, beginning with a literal: `v{a}.{b}` → ['v', 'a', '.', 'b', '']. */
type Segment = readonly string[];

const segmentOf = (text: string): Segment => text.split(/\{([^{}]+)\}/);

const fold = (text: string, isCaseless: boolean): string => (isCaseless ? text.toLowerCase() : text);

/** The values of a segment's parameters, in their order; null: it does not fit. Each takes as little as it can. */
function valuesOf(segment: Segment, text: string, isCaseless: boolean): string[] | null {
  // `{id}`, as most are
  if (segment.length === 3 && segment[0] === '' && segment[2] === '') return text === '' ? null : [text];
  const literals = segment.filter((_part, index) => index % 2 === 0);
  const [first = '', ...rest] = literals;
  if (rest.length === 0) return fold(first, isCaseless) === fold(text, isCaseless) ? [] : null;
  const folded = fold(text, isCaseless);
  if (!folded.startsWith(fold(first, isCaseless))) return null;
  const values: string[] = [];
  let at = first.length;
  for (const [index, literal] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const wanted = fold(literal, isCaseless);
    const end = isLast ? folded.length - wanted.length : folded.indexOf(wanted, at + 1);
    if (end <= at || !folded.startsWith(wanted, end)) return null;
    values.push(text.slice(at, end));
    at = end + literal.length;
  }
  return values;
}

/** Whether the segments without parameters are those of the path: nothing is allocated for the many that are not. */
function literalsFit(segments: readonly Segment[], texts: readonly string[], isCaseless: boolean): boolean {
  for (let index = 0; index < segments.length; index += 1) {
    const segment = segments[index] as Segment;
    if (segment.length > 1 || segment[0] === texts[index]) continue;
    if (!isCaseless || segment[0]?.toLowerCase() !== texts[index]?.toLowerCase()) return false;
  }
  return true;
}

/** Literal segments before mixed ones before pure parameters, from the left. */
function isBefore(left: Leaf, right: Leaf): number {
  for (let index = 0; index < left.segments.length; index += 1) {
    const rank = (segment: Segment | undefined): number =>
      segment === undefined || segment.length === 1
        ? 0
        : segment.some((part, at) => at % 2 === 0 && part !== '')
          ? 1
          : 2;
    const difference = rank(left.segments[index]) - rank(right.segments[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** `%2F` stays a part of its segment. null: an escape that is none, or that is no UTF-8. */
function decoded(path: string): string[] | null {
  const segments = path.slice(1).split('/');
  if (!path.includes('%')) return segments.map(fromUtf8);
  try {
    return segments.map((one) => decodeURIComponent(fromUtf8(one)));
  } catch {
    return null;
  }
}

export type PathAnswer =
  | { readonly kind: 'found'; readonly found: Found }
  /** Nothing declares it, in no reading. */
  | { readonly kind: 'unknown' }
  /** A spelling of a declared path that another server may read as that. */
  | { readonly kind: 'spelling'; readonly found: Found | null };

export class PathTable {
  private readonly bySize = new Map<number, Leaf[]>();

  constructor(plans: readonly SchemaPlan[]) {
    const known = new Map<string, Leaf>();
    for (const plan of plans)
      for (const operation of plan.operations)
        for (const template of operation.templates) {
          const key = `${plan.name} ${template}`;
          let leaf = known.get(key);
          if (leaf === undefined) {
            const segments = template.slice(1).split('/').map(segmentOf);
            leaf = { plan, template, segments, operations: new Map() };
            known.set(key, leaf);
            this.bySize.set(segments.length, [...(this.bySize.get(segments.length) ?? []), leaf]);
          }
          leaf.operations.set(operation.method, operation);
        }
    for (const leaves of this.bySize.values()) leaves.sort(isBefore);
  }

  private find(segments: readonly string[], isCaseless: boolean): Found | null {
    for (const leaf of this.bySize.get(segments.length) ?? []) {
      if (!literalsFit(leaf.segments, segments, isCaseless)) continue;
      const values = new Map<string, string>();
      const fits = leaf.segments.every((segment, index) => {
        if (segment.length === 1) return true;
        const found = valuesOf(segment, segments[index] ?? '', isCaseless);
        if (found === null) return false;
        for (const [at, value] of found.entries()) values.set(segment[at * 2 + 1] ?? '', value);
        return true;
      });
      if (fits) return { plan: leaf.plan, template: leaf.template, operations: leaf.operations, values };
    }
    return null;
  }

  /** `uri` as the client sent it. */
  match(uri: string): PathAnswer {
    const path = pathOf(uri);
    const segments = decoded(path);
    const direct = segments === null ? null : this.find(segments, false);
    const isPlain = isPlainPath(path);
    if (direct !== null && isPlain) return { kind: 'found', found: direct };
    const readings = isPlain ? [path] : readingsOf(path);
    if (readings === null) return { kind: 'spelling', found: direct };
    for (const reading of readings) {
      const trimmed = reading.length > 1 ? reading.replace(/\/+$/, '') : reading;
      const other = this.find(decoded(trimmed) ?? trimmed.slice(1).split('/'), true);
      if (other !== null && other.template !== direct?.template) return { kind: 'spelling', found: other };
    }
    if (direct !== null) return { kind: 'found', found: direct };
    const other = this.findByKeys(path);
    return other === null ? { kind: 'unknown' } : { kind: 'spelling', found: other };
  }

  /** What gates take the path for (http/path-readings.ts): look-alikes, front controllers, `/orders.json`. */
  private findByKeys(path: string): Found | null {
    for (const key of pathKeys(path) ?? []) {
      const segments = key.replace(/^\/|\/+$/g, '').split('/');
      const last = segments.pop() ?? '';
      const dot = last.indexOf('.', 1);
      const found =
        this.find([...segments, last], true) ??
        (dot === -1 ? null : this.find([...segments, last.slice(0, dot)], true));
      if (found !== null) return found;
    }
    return null;
  }
}
