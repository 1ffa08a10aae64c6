// The public surface of an API, a line for each operation: what a reviewer sees of a change. The whole documents are
// built (build/openapi/).
import { createHash } from 'node:crypto';
import type { OpenApiDocument } from './describe.js';

/** Words for people; a property with such a name is an object, and stays. */
const texts: ReadonlySet<string> = new Set(['description', 'summary', 'title']);
/** What is passed, and what comes back. */
const passed = ['parameters', 'requestBody', 'responses', 'security'] as const;

function resolve(document: OpenApiDocument, reference: string): unknown {
  let at: unknown = document;
  for (const part of reference.replace(/^#\//, '').split('/'))
    at = (at as Record<string, unknown> | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  if (at === undefined) throw new Error(`the document has no ${reference}`);
  return at;
}

/** With members in order and references replaced by what they name; one that leads back to itself stays. */
function settled(document: OpenApiDocument, value: unknown, within: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => settled(document, one, within));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref: reference } = value as { readonly $ref?: unknown };
  if (typeof reference === 'string' && !within.includes(reference))
    return settled(document, resolve(document, reference), [...within, reference]);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !(texts.has(name) && typeof member === 'string'))
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => [name, settled(document, member, within)]),
  );
}

/** `GET /api/sites 0a1b2c3d4e5f`, sorted by path; the digest is of parameters, bodies and answers, without texts. */
export function surfaceOf(document: OpenApiDocument): string[] {
  return Object.entries(document.paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => {
        const operationFacts = passed.map((name) => (operation as Record<string, unknown>)[name] ?? null);
        const digest = createHash('sha256')
          .update(JSON.stringify(settled(document, operationFacts, [])))
          .digest('hex');
        return [path, `${method.toUpperCase()} ${path} ${digest.slice(0, 12)}`] as const;
      }),
    )
    .sort(([a, one], [b, other]) => (a === b ? (one < other ? -1 : 1) : a < b ? -1 : 1))
    .map(([, line]) => line);
}
