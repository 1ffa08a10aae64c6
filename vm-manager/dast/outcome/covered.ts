// What a scan covered, from its result, beside what the data plane has seen of the target.
import type { SeenEndpoint } from '../../host.js';
import type { Run } from '../../kit/runs.js';
import { templateOf } from '../http/forms.js';

const missingMax = 200;

interface Result {
  readonly complete?: boolean;
  readonly pages?: number;
  readonly forms?: number;
  readonly forms_done?: number;
  readonly sources?: Readonly<Record<string, number>>;
  readonly checks?: Readonly<Record<string, number>>;
  readonly not_looked_at?: Readonly<Record<string, number>>;
  readonly shapes?: readonly string[];
  readonly left_out?: readonly { readonly url: string; readonly reason: string }[];
  readonly notes?: readonly string[];
}

const anyName = (path: string): string => templateOf(path).replaceAll(/\{[^/{}]*\}/g, '{}');

/** `GET https://host/items/{}?query:q none` → `GET /items/{}` */
export function operationOf(shape: string): string {
  const [method = '', address = ''] = shape.split(' ', 2);
  const path = (address.split('?', 1)[0] ?? '').replace(/^https?:\/\/[^/]+/, '');
  return `${method} ${anyName(path === '' ? '/' : path)}`;
}

const percentOf = (part: number, whole: number): number => Math.floor((100 * part) / Math.max(1, whole));

export function covered({ result }: Run, seen: readonly SeenEndpoint[]) {
  const of = result as Result;
  const { forms = 0, forms_done: done = 0, checks = {}, not_looked_at: missed = {} } = of;
  const shapes = new Set((of.shapes ?? []).map(operationOf));
  const known = [...new Set(seen.map(({ method, template }) => `${method} ${anyName(template)}`))].sort();
  const missing = known.filter((one) => !shapes.has(one));
  const ids = [...new Set([...Object.keys(checks), ...Object.keys(missed)])].sort();
  return {
    complete: of.complete === true,
    pages: of.pages ?? 0,
    forms,
    forms_done: done,
    percent: percentOf(done, forms),
    inventory: {
      known: known.length,
      covered: known.length - missing.length,
      percent: known.length === 0 ? null : percentOf(known.length - missing.length, known.length),
      missing: missing.slice(0, missingMax),
    },
    sources: of.sources ?? {},
    checks: ids.map((id) => ({ id, places: checks[id] ?? 0, not_looked_at: missed[id] ?? 0 })),
    left_out: (of.left_out ?? []).map(({ url, reason }) => ({ url, reason })),
    notes: [...(of.notes ?? [])],
  };
}
