// A checked OpenAPI 3 document → its operations, with everything that is inherited, referenced or left to defaults
// written out: what the plan, the comparison, the posture and the scan all read.
import type { JsonSchema, PlannedContent, PlannedEncoding, PlannedParameter } from '#proxy/contract';
import { referencesOf, toSchema } from './dialect.js';
import { arrayOf, isObject, objectOf, pointerOf, textOf, type JsonObject } from './problem.js';
import { follow, pathOfReference, valueAt } from './references.js';

export const operationMethods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

export interface ApiOperation {
  /** In capitals. */
  readonly method: string;
  /** As the document has it, without the base path of a server. */
  readonly path: string;
  readonly id: string | null;
  /** Where it stands in the document: `/paths/~1orders/get`. */
  readonly pointer: string;
  readonly summary: string;
  readonly isDeprecated: boolean;
  /** Path parts of its servers, without a slash at the end; [''] where they say nothing. */
  readonly basePaths: readonly string[];
  readonly parameters: readonly PlannedParameter[];
  readonly body: { readonly required: boolean; readonly content: PlannedContent } | null;
  readonly responses: Readonly<Record<string, PlannedContent>>;
  /**
   * Alternatives of requirements, by the names of schemes; null: nobody says anything. `[]`: explicitly none. An empty
   * alternative means that credentials are optional.
   */
  readonly security: readonly (readonly string[])[] | null;
}

export interface ApiModel {
  readonly title: string;
  readonly version: string;
  /** As the document says it: `3.1.0`; of a converted one `2.0`. */
  readonly openapi: string;
  readonly operations: readonly ApiOperation[];
  /** By the text of the reference; those of operations, and those that these refer to. */
  readonly definitions: Readonly<Record<string, JsonSchema>>;
  readonly securitySchemes: Readonly<Record<string, JsonObject>>;
}

interface Reading {
  readonly root: JsonObject;
  readonly is30: boolean;
}

const paramPlaces = ['path', 'query', 'header', 'cookie'] as const;
const defaultStyle = { path: 'simple', header: 'simple', query: 'form', cookie: 'form' } as const;
/** Header parameters of these names are ignored (OpenAPI 3.1 section 4.8.12.1). */
const ignoredHeaders = new Set(['accept', 'content-type', 'authorization']);

export const mediaTypeOf = (text: string): string => (text.split(';')[0] ?? '').trim().toLowerCase();

function toParameter({ root, is30 }: Reading, given: unknown): PlannedParameter | null {
  const parameter = follow(root, given);
  const place = paramPlaces.find((one) => one === parameter['in']);
  const name = textOf(parameter['name']);
  if (place === undefined || (place === 'header' && ignoredHeaders.has(name.toLowerCase()))) return null;
  const style = textOf(parameter['style'], defaultStyle[place]) as PlannedParameter['style'];
  const [content] = Object.entries(objectOf(parameter['content']));
  const schema = content === undefined ? parameter['schema'] : objectOf(content[1])['schema'];
  return {
    name,
    in: place,
    required: place === 'path' || parameter['required'] === true,
    style,
    explode: typeof parameter['explode'] === 'boolean' ? parameter['explode'] : style === 'form',
    schema: toSchema(schema ?? true, is30),
    mediaType: content === undefined ? null : mediaTypeOf(content[0]),
    allowsEmpty: parameter['allowEmptyValue'] === true,
  };
}

/** Those of the path, unless the operation says the same name at the same place otherwise. */
function parametersOf(reading: Reading, item: JsonObject, operation: JsonObject): PlannedParameter[] {
  const byKey = new Map<string, PlannedParameter>();
  for (const given of [...arrayOf(item['parameters']), ...arrayOf(operation['parameters'])]) {
    const parameter = toParameter(reading, given);
    if (parameter !== null) byKey.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  return [...byKey.values()];
}

function encodingOf(media: JsonObject): PlannedEncoding {
  return Object.fromEntries(
    Object.entries(objectOf(media['encoding'])).map(([name, given]) => {
      const one = objectOf(given);
      const style = textOf(one['style'], 'form') as PlannedParameter['style'];
      const explode = typeof one['explode'] === 'boolean' ? one['explode'] : style === 'form';
      const type = textOf(one['contentType']);
      return [name, { style, explode, mediaType: type === '' ? null : mediaTypeOf(type) }];
    }),
  );
}

function contentOf({ root, is30 }: Reading, content: unknown): PlannedContent {
  return Object.fromEntries(
    Object.entries(objectOf(content)).map(([type, given]) => {
      const media = follow(root, given);
      const schema = media['schema'] === undefined ? null : toSchema(media['schema'], is30);
      return [mediaTypeOf(type), { schema, encoding: encodingOf(media) }];
    }),
  );
}

function basePathOf(server: unknown): string {
  const { url, variables } = objectOf(server);
  const named = objectOf(variables);
  const filled = textOf(url, '/').replace(/\{([^{}]+)\}/g, (_all, name: string) =>
    textOf(objectOf(named[name])['default'], ''),
  );
  const path = filled.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/^\/\/[^/?#]*/, '');
  const clean = (path.split(/[?#]/)[0] ?? '').replace(/\/+$/, '');
  return clean === '' || clean.startsWith('/') ? clean : `/${clean}`;
}

/** The nearest list of servers that says something. */
export function basePathsOf(...lists: readonly unknown[]): string[] {
  const servers = lists.map(arrayOf).find((list) => list.length > 0) ?? [];
  const paths = [...new Set(servers.map(basePathOf))].slice(0, 10);
  return paths.length === 0 ? [''] : paths;
}

function securityOf(given: unknown): string[][] | null {
  return Array.isArray(given) ? (given as unknown[]).map((one) => Object.keys(objectOf(one))) : null;
}

function toOperation(reading: Reading, path: string, item: JsonObject, method: string): ApiOperation {
  const { root } = reading;
  const operation = objectOf(item[method]);
  const body = operation['requestBody'] === undefined ? null : follow(root, operation['requestBody']);
  return {
    method: method.toUpperCase(),
    path,
    id: textOf(operation['operationId']) || null,
    pointer: pointerOf(['paths', path, method]),
    summary: textOf(operation['summary']),
    isDeprecated: operation['deprecated'] === true,
    basePaths: basePathsOf(operation['servers'], item['servers'], root['servers']),
    parameters: parametersOf(reading, item, operation),
    body: body === null ? null : { required: body['required'] === true, content: contentOf(reading, body['content']) },
    responses: Object.fromEntries(
      Object.entries(objectOf(operation['responses'])).map(([code, one]) => [
        code.toUpperCase() === 'DEFAULT' ? 'default' : code.toUpperCase(),
        contentOf(reading, follow(root, one)['content']),
      ]),
    ),
    security: securityOf(operation['security']) ?? securityOf(root['security']),
  };
}

/** What the operations refer to, and what that refers to. */
function definitionsOf({ root, is30 }: Reading, operations: readonly ApiOperation[]): Record<string, JsonSchema> {
  const definitions: Record<string, JsonSchema> = {};
  const open = new Set<string>();
  referencesOf(operations, open);
  for (const reference of open) {
    const path = pathOfReference(reference);
    const schema = toSchema(path === null ? true : (valueAt(root, path) ?? true), is30);
    definitions[reference] = schema;
    referencesOf(schema, open); // a set that grows is walked to its end
  }
  return definitions;
}

/** `root` is an OpenAPI 3.0 or 3.1 document that `checkDocument` has found nothing wrong with. */
export function modelOf(root: JsonObject, saidVersion: string): ApiModel {
  const reading: Reading = { root, is30: textOf(root['openapi']).startsWith('3.0') };
  const info = objectOf(root['info']);
  const operations = Object.entries(objectOf(root['paths'])).flatMap(([path, given]) => {
    if (!path.startsWith('/')) return [];
    const item = follow(root, given);
    const own = operationMethods.filter((method) => isObject(item[method]));
    return own.map((method) => toOperation(reading, path, item, method));
  });
  const components = objectOf(root['components']);
  return {
    title: textOf(info['title']),
    version: textOf(info['version']),
    openapi: saidVersion,
    operations,
    definitions: definitionsOf(reading, operations),
    securitySchemes: Object.fromEntries(
      Object.entries(objectOf(components['securitySchemes'])).map(([name, one]) => [name, follow(root, one)]),
    ),
  };
}
