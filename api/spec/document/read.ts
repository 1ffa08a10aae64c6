// The text of an OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0 document, JSON or YAML → its model. Never throws on what a
// person wrote: everything wrong with it is a problem with its line.
import { isStorable } from '../../http-kit/index.js';
import { checkDocument, versionOf } from './check.js';
import { modelOf, type ApiModel } from './model.js';
import { isObject, pointerOf, type JsonObject, type SpecProblem } from './problem.js';
import { checkPatterns } from './patterns.js';
import { checkReferences } from './references.js';
import { fromSwagger2 } from './swagger2.js';
import { readText } from './text.js';

/** Of the text that is sent. */
export const specBytesMax = 4 * 1024 * 1024;

/** Objects and lists inside each other; a deeper document would end the reader instead of being read. */
const depthMax = 200;

export interface Specification {
  readonly format: 'json' | 'yaml';
  /** The OpenAPI 3 document: as it came, or as it was converted. */
  readonly document: JsonObject;
  readonly model: ApiModel;
  /** Warnings only. */
  readonly problems: readonly SpecProblem[];
}

export type SpecificationRead =
  | { readonly kind: 'read'; readonly specification: Specification }
  | { readonly kind: 'refused'; readonly problems: readonly SpecProblem[] };

const whole = (reason: string, fix: string): SpecificationRead => ({
  kind: 'refused',
  problems: [{ severity: 'error', path: '', line: 1, reason, fix }],
});

function isDeeper(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((one) => isDeeper(one, left - 1));
}

/**
 * Where a name or a text is none that a database takes, however it is escaped; null: nowhere. One such path would stop
 * every list that it stands in. The depth is bounded before.
 */
function unstorableIn(value: unknown): string[] | null {
  if (typeof value === 'string') return isStorable(value) ? null : [];
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, one] of Object.entries(value)) {
    if (!isStorable(name)) return [];
    const found = unstorableIn(one);
    if (found !== null) return [name, ...found];
  }
  return null;
}

export function readSpecification(source: string): SpecificationRead {
  if (source.trim() === '') return whole('is empty', 'send an OpenAPI document');
  const { text, problems } = readText(source);
  if (text === null) return { kind: 'refused', problems };
  const { value, lineOf, format } = text;
  if (!isObject(value)) return whole('is not an OpenAPI document', 'send an object with "openapi", "info" and "paths"');
  if (isDeeper(value, depthMax)) return whole(`nests deeper than ${depthMax} levels`, 'use $ref for repeated parts');
  const unstorable = unstorableIn(value);
  if (unstorable !== null) {
    const reason = 'has a NUL or half of a character, in a name or a text';
    const fix = 'write characters that are whole';
    const at = { path: pointerOf(unstorable), line: lineOf(unstorable) };
    return { kind: 'refused', problems: [{ severity: 'error', ...at, reason, fix }] };
  }
  const version = versionOf(value);
  if (version === null) {
    const said = JSON.stringify(value['openapi'] ?? value['swagger'] ?? null).slice(0, 40);
    const path = value['openapi'] === undefined ? ['swagger'] : ['openapi'];
    const reason = `is ${said}, which is none of the versions that are read`;
    const fix = 'send OpenAPI 3.0.x, OpenAPI 3.1.x or Swagger 2.0, and say it as openapi: "3.1.0"';
    return {
      kind: 'refused',
      problems: [{ severity: 'error', path: pointerOf(path), line: lineOf(path), reason, fix }],
    };
  }
  const found = [
    ...checkReferences(value, lineOf),
    ...checkDocument(value, version, lineOf),
    ...checkPatterns(value, lineOf),
  ];
  if (found.some(({ severity }) => severity === 'error')) return { kind: 'refused', problems: found };
  const document = version === '2.0' ? fromSwagger2(value) : value;
  const model = modelOf(document, version === '2.0' ? '2.0' : String(value['openapi']));
  return { kind: 'read', specification: { format, document, model, problems: found } };
}
