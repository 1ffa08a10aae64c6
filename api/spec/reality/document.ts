// The endpoints of a site → an OpenAPI 3.1 document, and from an uploaded document to what traffic shows (JSON Patch,
// RFC 6902). Pure. Applied, the patch leaves no endpoint that the document does not declare (api/posture/gaps).
import { segmentsOf } from '#proxy/contract';
import { operationKey } from '../../inventory/fold.js';
import type { Endpoint } from '../../inventory/store.js';
import { addStats } from '../../inventory/stats.js';
import { operationMethods, type ApiModel, type ApiOperation } from '../document/model.js';
import { arrayOf, isObject, objectOf, pointerOf, type JsonObject } from '../document/problem.js';
import { follow, pathOfReference } from '../document/references.js';
import { operationOf, pathOf, queryParameters, securitySchemes } from './operation.js';

export interface LeftOut {
  readonly method: string;
  readonly template: string;
  readonly reason: string;
}

export interface AddOperation {
  readonly op: 'add';
  /** JSON pointer (RFC 6901). */
  readonly path: string;
  readonly value: unknown;
}

export interface Reality {
  readonly document: JsonObject;
  readonly operations: number;
  readonly leftOut: readonly LeftOut[];
}

const schemesIn = (operations: readonly JsonObject[]): string[] => [
  ...new Set(operations.flatMap((one) => arrayOf(one['security']).flatMap((needs) => Object.keys(objectOf(needs))))),
];

const methodOf = (method: string) => operationMethods.find((one) => one === method.toLowerCase());

interface Merged {
  readonly endpoint: Endpoint;
  /** As clients send it, with parameters as `{name}`. */
  readonly path: string;
}

/** One for each method and path: operations of GraphQL share one. HEAD is what GET is where both were seen. */
function mergedOf(endpoints: readonly Endpoint[]): { merged: Merged[]; leftOut: LeftOut[] } {
  const byKey = new Map<string, Merged>();
  const leftOut: LeftOut[] = [];
  for (const endpoint of endpoints) {
    const { method, template } = endpoint;
    if (methodOf(method) === undefined || method !== method.toUpperCase()) {
      leftOut.push({ method, template, reason: 'OpenAPI has no such method' });
      continue;
    }
    const { path } = pathOf(endpoint);
    const key = operationKey(method, segmentsOf(path));
    const before = byKey.get(key);
    if (before === undefined) byKey.set(key, { endpoint, path });
    else
      byKey.set(key, {
        path,
        endpoint: {
          ...before.endpoint,
          hits: before.endpoint.hits + endpoint.hits,
          stats: addStats(before.endpoint.stats, endpoint.stats),
        },
      });
  }
  const merged = [...byKey.values()].filter(
    ({ endpoint, path }) => endpoint.method !== 'HEAD' || !byKey.has(operationKey('GET', segmentsOf(path))),
  );
  return { merged, leftOut };
}

const relative = (path: string, base: string): string | null =>
  path === base ? '/' : path.startsWith(`${base}/`) ? path.slice(base.length) : null;

/** `prefix`: of the site, without a slash at its end; the document speaks of what is below it. */
export function documentOf(site: string, prefix: string, endpoints: readonly Endpoint[]): Reality {
  const { merged, leftOut } = mergedOf(endpoints);
  const paths: Record<string, Record<string, unknown>> = {};
  const made: JsonObject[] = [];
  const byShape = new Map<string, string>();
  for (const { endpoint, path } of merged) {
    const asSeen = relative(path, prefix);
    if (asSeen === null) {
      leftOut.push({ ...placeOf(endpoint), reason: `it is not below ${prefix}, where the site begins now` });
      continue;
    }
    const own = byShape.get(shapeOf(asSeen)) ?? asSeen;
    byShape.set(shapeOf(own), own);
    const operation = operationOf(endpoint, own);
    made.push(operation);
    (paths[own] ??= {})[endpoint.method.toLowerCase()] = operation;
  }
  const schemes = schemesIn(made);
  const used = Object.fromEntries(schemes.map((name) => [name, securitySchemes[name]]));
  const document = {
    openapi: '3.1.0',
    info: {
      title: `${site}, as observed`,
      version: '0.0.0',
      description:
        'Made of observed traffic: a draft to review. Parameters and members are those of requests that were looked ' +
        'into, so there may be more, and nothing is known of what is required.',
    },
    paths: Object.fromEntries(Object.entries(paths).sort(([left], [right]) => (left < right ? -1 : 1))),
    ...(schemes.length === 0 ? {} : { components: { securitySchemes: used } }),
  };
  return { document, operations: made.length, leftOut };
}

const placeOf = ({ method, template }: Endpoint) => ({ method, template });

export interface PatchSubject {
  /** OpenAPI 3, as it was uploaded. */
  readonly document: JsonObject;
  readonly model: ApiModel;
  readonly templatesOf: (operation: Pick<ApiOperation, 'basePaths' | 'path'>) => readonly string[];
  /** Of its root: what stands before the paths of operations that say no servers of their own. */
  readonly rootBases: readonly string[];
  /** The settings say a base path, which counts for every operation. */
  readonly isBaseFixed: boolean;
  readonly prefix: string;
}

export interface RealityPatch {
  readonly patch: readonly AddOperation[];
  readonly operations: number;
  readonly parameters: number;
  readonly leftOut: readonly LeftOut[];
}

const shapeOf = (path: string): string =>
  operationKey(
    '',
    segmentsOf(path).map((segment) => segment.replace(/^.*\{[^{}]*\}.*$/, '{}')),
  );

class Patching {
  private readonly patch: AddOperation[] = [];
  /** Paths of the document by their shape, with those that the patch adds. */
  private readonly known = new Map<string, string>();
  private readonly fresh = new Map<string, Record<string, unknown>>();
  /** Those of them that have servers of their own, by their shape. */
  private readonly elsewhere = new Map<string, string>();
  private readonly leftOut: LeftOut[] = [];
  private readonly made: JsonObject[] = [];
  /** By the pointer of the operation. */
  private readonly widened = new Map<string, readonly JsonObject[]>();
  private parameters = 0;

  constructor(private readonly subject: PatchSubject) {
    for (const [path, given] of Object.entries(objectOf(subject.document['paths']))) {
      this.known.set(shapeOf(path), path);
      const item = follow(subject.document, given);
      if (arrayOf(item['servers']).length > 0) this.elsewhere.set(shapeOf(path), path);
    }
  }

  /** The path within the document, and the servers that a new one needs; null: it cannot be said. */
  private within(path: string): { own: string; servers: JsonObject | null } | null {
    const { templatesOf, rootBases, isBaseFixed, prefix } = this.subject;
    for (const base of templatesOf({ basePaths: rootBases, path: '' })) {
      const own = relative(path, base);
      if (own !== null) return { own, servers: null };
    }
    const own = relative(path, prefix);
    if (isBaseFixed || own === null) return null;
    return { own, servers: { url: prefix === '' ? '/' : prefix } };
  }

  add({ endpoint, path }: Merged): void {
    const place = this.within(path);
    if (place === null) {
      this.leftOut.push({ ...placeOf(endpoint), reason: 'it is not below the base path of the specification' });
      return;
    }
    const { own, servers } = place;
    const method = endpoint.method.toLowerCase();
    const shape = shapeOf(own);
    const known = this.knownAt(shape, servers);
    const operation = operationOf(endpoint, known ?? own);
    const item = known === undefined ? undefined : this.fresh.get(known);
    if (item !== undefined) item[method] = operation;
    else if (known !== undefined) this.addMethod(known, method, operation);
    else if (this.known.has(shape)) {
      this.leftOut.push({ ...placeOf(endpoint), reason: `the document has ${own} below another base path` });
      return;
    } else {
      this.fresh.set(own, { ...(servers === null ? {} : { servers: [servers] }), [method]: operation });
      this.known.set(shape, own);
      if (servers !== null) this.elsewhere.set(shape, own);
    }
    this.made.push(operation);
  }

  /** The path of this shape that stands at the same servers; undefined: there is none. */
  private knownAt(shape: string, servers: JsonObject | null): string | undefined {
    const other = this.elsewhere.get(shape);
    if (servers === null) return other === undefined ? this.known.get(shape) : undefined;
    if (other === undefined || this.fresh.has(other)) return other;
    const item = follow(this.subject.document, objectOf(this.subject.document['paths'])[other]);
    return JSON.stringify(item['servers']) === JSON.stringify([servers]) ? other : undefined;
  }

  private addMethod(path: string, method: string, operation: JsonObject): void {
    const { document } = this.subject;
    const given = objectOf(objectOf(document['paths'])[path]);
    const { $ref } = given;
    const target = typeof $ref === 'string' ? pathOfReference($ref) : null;
    const at = target ?? ['paths', path];
    const shared = arrayOf(follow(document, given)['parameters']).map((one) => objectOf(follow(document, one)));
    const parameters = arrayOf(operation['parameters']).filter(
      (one) => !shared.some(({ name, in: where }) => name === objectOf(one)['name'] && where === objectOf(one)['in']),
    );
    const { parameters: _all, ...rest } = operation;
    const value = { ...rest, ...(parameters.length === 0 ? {} : { parameters }) };
    this.patch.push({ op: 'add', path: pointerOf([...at, method]), value });
  }

  /** Parameters of the query that a declared operation is asked with, and that nobody declares. */
  widen(endpoint: Endpoint, operation: ApiOperation): void {
    const isKnown = (name: string): boolean =>
      operation.parameters.some(
        (one) =>
          one.in === 'query' &&
          (one.name === name ||
            name.startsWith(`${one.name}[`) ||
            (isObject(one.schema) && hasMember(one.schema, name))),
      );
    const before = this.widened.get(operation.pointer) ?? [];
    const missing = queryParameters(endpoint, isKnown).filter(
      ({ name }) => !before.some((one) => one['name'] === name),
    );
    if (missing.length === 0) return;
    this.widened.set(operation.pointer, [...before, ...missing]);
    this.parameters += missing.length;
  }

  private widenings(): AddOperation[] {
    const { document } = this.subject;
    return [...this.widened].flatMap(([pointer, missing]): AddOperation[] => {
      const [, path = '', method = ''] = pointer.split('/').slice(1).map(unescaped);
      const item = objectOf(objectOf(document['paths'])[path]);
      const { $ref } = item;
      const at = [...((typeof $ref === 'string' ? pathOfReference($ref) : null) ?? ['paths', path]), method];
      const own = objectOf(follow(document, item)[method]);
      const place = pointerOf([...at, 'parameters']);
      if (!Array.isArray(own['parameters'])) return [{ op: 'add' as const, path: place, value: missing }];
      return missing.map((value) => ({ op: 'add' as const, path: `${place}/-`, value }));
    });
  }

  done(leftOut: readonly LeftOut[]): RealityPatch {
    const { document } = this.subject;
    const paths = [...this.fresh].map(
      ([path, value]): AddOperation => ({
        ...{ op: 'add', path: pointerOf(['paths', path]), value },
      }),
    );
    const all = [
      ...this.schemes(),
      ...(isObject(document['paths']) ? [] : [emptyPaths]),
      ...this.patch,
      ...this.widenings(),
      ...paths,
    ];
    return {
      patch: all,
      operations: this.made.length,
      parameters: this.parameters,
      leftOut: [...leftOut, ...this.leftOut],
    };
  }

  /** Schemes that new operations name and the document does not have; its parents first. */
  private schemes(): AddOperation[] {
    const { document } = this.subject;
    const components = objectOf(document['components']);
    const known = objectOf(components['securitySchemes']);
    const missing = schemesIn(this.made).filter((name) => !Object.hasOwn(known, name));
    if (missing.length === 0) return [];
    const wanted = Object.fromEntries(missing.map((name) => [name, securitySchemes[name]]));
    if (!isObject(document['components']))
      return [{ op: 'add', path: '/components', value: { securitySchemes: wanted } }];
    if (!isObject(components['securitySchemes']))
      return [{ op: 'add', path: '/components/securitySchemes', value: wanted }];
    return missing.map((name) => ({
      ...{ op: 'add' as const, path: pointerOf(['components', 'securitySchemes', name]), value: securitySchemes[name] },
    }));
  }
}

const emptyPaths: AddOperation = { op: 'add', path: '/paths', value: {} };

const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~');
const hasMember = (schema: JsonObject, name: string): boolean =>
  Object.hasOwn(objectOf(schema['properties']), name) ||
  (schema['type'] === 'object' && schema['additionalProperties'] !== false);

export function patchOf(subject: PatchSubject, endpoints: readonly Endpoint[]): RealityPatch {
  const { merged, leftOut } = mergedOf(endpoints);
  const declared = new Map<string, ApiOperation>();
  for (const operation of subject.model.operations)
    for (const template of subject.templatesOf(operation))
      declared.set(operationKey(operation.method, segmentsOf(template)), operation);
  const patching = new Patching(subject);
  for (const one of merged) {
    const segments = segmentsOf(one.path);
    const { method } = one.endpoint;
    const found =
      declared.get(operationKey(method, segments)) ??
      (method === 'HEAD' ? declared.get(operationKey('GET', segments)) : undefined);
    if (found === undefined) patching.add(one);
    else patching.widen(one.endpoint, found);
  }
  return patching.done(leftOut);
}

/** A patch of additions, applied to a copy. Throws Error where a place does not exist. */
export function applyAdditions(document: unknown, patch: readonly AddOperation[]): JsonObject {
  const copy = structuredClone(document) as Record<string, unknown>;
  for (const { path, value } of patch) {
    const names = path.split('/').slice(1).map(unescaped);
    const last = names.pop() ?? '';
    let at: unknown = copy;
    for (const name of names) at = Array.isArray(at) ? (at as unknown[])[Number(name)] : objectOf(at)[name];
    if (Array.isArray(at) && last === '-') at.push(structuredClone(value));
    else if (isObject(at)) (at as Record<string, unknown>)[last] = structuredClone(value);
    else throw new Error(`${path}: there is no such place`);
  }
  return copy;
}
