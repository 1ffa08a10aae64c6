// `$ref` in a specification: within the document only. A reference to another file or address would make the server
// that reads it ask strangers on behalf of whoever uploaded it, and would mean something else tomorrow.
import { isObject, pointerOf, type JsonObject, type Path, type SpecProblem } from './problem.js';

const hopsMax = 50;

/** The path that `#/a/b~1c` names, percent-encoding undone (RFC 6901 section 6); null: it is not of that form. */
export function pathOfReference(reference: string): string[] | null {
  if (reference === '#') return [];
  if (!reference.startsWith('#/')) return null;
  try {
    return reference
      .slice(2)
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return null;
  }
}

export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const name of path) {
    if (Array.isArray(value)) value = (value as unknown[])[Number(name)];
    else if (isObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

/** The object behind a chain of references; an object without one is itself. {} where a chain leads nowhere. */
export function follow(root: unknown, node: unknown): JsonObject {
  let value = node;
  for (let hop = 0; hop < hopsMax; hop += 1) {
    if (!isObject(value)) return {};
    const { $ref } = value;
    if (typeof $ref !== 'string') return value;
    const path = pathOfReference($ref);
    if (path === null) return {};
    value = valueAt(root, path);
  }
  return {};
}

/** Members whose content is data, not a part of the description. */
const dataMembers = new Set(['example', 'examples', 'default', 'enum', 'const', 'x-example', 'x-examples', 'value']);
/** Members that are maps by free names: a name `$ref` or `default` among them is a name. */
const mapMembers = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'schemas', 'responses']);

/** Every reference of the document that leads nowhere, or out of it. */
export function checkReferences(root: unknown, lineOf: (path: Path) => number): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const visit = (node: unknown, path: Path, isMap: boolean): void => {
    if (Array.isArray(node)) {
      for (const [index, item] of (node as unknown[]).entries()) visit(item, [...path, index], false);
      return;
    }
    if (!isObject(node)) return;
    for (const [name, value] of Object.entries(node)) {
      const at = [...path, name];
      if (!isMap && name === '$ref' && typeof value === 'string') {
        const found = problemOf(root, value);
        if (found !== null) problems.push({ severity: 'error', path: pointerOf(at), line: lineOf(at), ...found });
      } else if (isMap || (!dataMembers.has(name) && !name.startsWith('x-')))
        visit(value, at, !isMap && mapMembers.has(name));
    }
  };
  visit(root, [], false);
  return problems.slice(0, 100);
}

function problemOf(root: unknown, reference: string): { reason: string; fix: string } | null {
  const shown = reference.slice(0, 200);
  const path = pathOfReference(reference);
  if (path === null)
    return {
      reason: `"${shown}" is not a reference within this document`,
      fix: 'bundle the document into one file, and write references as #/components/…',
    };
  if (valueAt(root, path) === undefined)
    return { reason: `"${shown}" leads nowhere`, fix: 'define it, or correct the name' };
  if (isCircle(root, reference))
    return { reason: `"${shown}" leads back to itself`, fix: 'let it name a description, not a reference' };
  return null;
}

/** A chain of nothing but references. A schema that contains itself further in is fine. */
function isCircle(root: unknown, reference: string): boolean {
  const seen = new Set<string>();
  let next: unknown = reference;
  while (typeof next === 'string') {
    if (seen.has(next)) return true;
    seen.add(next);
    const path = pathOfReference(next);
    const value = path === null ? undefined : valueAt(root, path);
    if (!isObject(value) || Object.keys(value).length > 1) return false;
    next = value['$ref'];
  }
  return false;
}
