// What traffic showed of one endpoint → an operation of OpenAPI 3.1. Nothing is said that was not seen: members and
// parameters are those of the requests that were looked into, none is required, and a type is what all values were.
import { segmentsOf, type Counts } from '#proxy/contract';
import type { Endpoint } from '../../inventory/store.js';
import type { JsonObject } from '../document/problem.js';

type Mutable = Record<string, unknown>;

const byName = ([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number =>
  left < right ? -1 : 1;

/** Kinds of values (proxy/observation/segment-kind.ts) → schemas. */
const schemaOfKind: Readonly<Record<string, JsonObject>> = {
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
  uuid: { type: 'string', format: 'uuid' },
  email: { type: 'string', format: 'email' },
  array: { type: 'array' },
  object: { type: 'object' },
};

/** Formats are said only where every value had them. */
export function schemaOfKinds(kinds: readonly string[]): JsonObject {
  const found = kinds.map((kind) => schemaOfKind[kind] ?? { type: 'string' });
  const [first = { type: 'string' }] = found;
  if (found.every((one) => JSON.stringify(one) === JSON.stringify(first))) return first;
  const types = new Set(found.map((one) => String(one['type'])));
  if (types.has('number')) types.delete('integer');
  const [only] = types;
  return { type: types.size === 1 ? only : [...types].sort() };
}

const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~');

interface Place {
  readonly kinds: Set<string>;
  readonly members: Map<string, Place>;
  items: Place | null;
  /** Of members whose names are data. */
  others: Place | null;
}

const place = (): Place => ({ kinds: new Set(), members: new Map(), items: null, others: null });

function below(at: Place, name: string): Place {
  if (name === '*') return (at.items ??= place());
  if (name.startsWith('{') && name.endsWith('}')) return (at.others ??= place());
  const known = at.members.get(unescaped(name));
  if (known !== undefined) return known;
  const made = place();
  at.members.set(unescaped(name), made);
  return made;
}

function schemaOf(at: Place): JsonObject {
  const { kinds, members, items, others } = at;
  if (kinds.size === 0 && members.size === 0 && items === null && others === null) return {};
  const all = new Set(kinds);
  if (members.size > 0 || others !== null) all.add('object');
  if (items !== null) all.add('array');
  const schema: Mutable = { ...schemaOfKinds([...all].sort()) };
  if (members.size > 0)
    schema['properties'] = Object.fromEntries([...members].sort(byName).map(([name, one]) => [name, schemaOf(one)]));
  if (others !== null) schema['additionalProperties'] = schemaOf(others);
  if (items !== null) schema['items'] = schemaOf(items);
  return schema;
}

/** `body:POINTER` of observations → the schema of the whole body. */
export function bodySchema(parameters: Endpoint['stats']['parameters']): JsonObject {
  const root = place();
  for (const [name, kinds] of Object.entries(parameters)) {
    if (!name.startsWith('body:')) continue;
    const at = name.slice('body:'.length).split('/').slice(1).reduce(below, root);
    for (const kind of Object.keys(kinds)) at.kinds.add(kind);
  }
  return schemaOf(root);
}

const graphqlBody: JsonObject = {
  type: 'object',
  required: ['query'],
  properties: {
    query: { type: 'string' },
    operationName: { type: ['string', 'null'] },
    variables: { type: ['object', 'null'] },
    extensions: { type: ['object', 'null'] },
  },
};

const isStructured = (type: string): boolean =>
  type === 'application/json' || type.endsWith('+json') || type === 'application/x-www-form-urlencoded';

function requestBody({ stats }: Endpoint, isGraphql: boolean): JsonObject | null {
  const types = Object.keys(stats.request_types).sort();
  const schema = isGraphql ? graphqlBody : bodySchema(stats.parameters);
  const hasMembers = Object.keys(schema).length > 0;
  if (types.length === 0 && (!hasMembers || isGraphql)) return null;
  const named = types.length === 0 ? ['application/json'] : types;
  return {
    content: Object.fromEntries(named.map((type) => [type, hasMembers && isStructured(type) ? { schema } : {}])),
  };
}

const hasNoContent = (status: string): boolean => status === '204' || status === '205' || status.startsWith('3');

function responses({ stats }: Endpoint): JsonObject {
  const types = Object.keys(stats.response_types).sort();
  const content = Object.fromEntries(types.map((type) => [type, {}]));
  const entries = Object.entries(stats.statuses)
    .filter(([status]) => /^[1-5]\d\d$/.test(status))
    .sort(byName)
    .map(([status, count]) => {
      const description = `Seen ${count} times.`;
      const isContent = status.startsWith('2') && !hasNoContent(status) && types.length > 0;
      return [status, isContent ? { description, content } : { description }];
    });
  return entries.length === 0 ? { default: { description: 'Seen.' } } : Object.fromEntries(entries);
}

/** How credentials were sent, as far as observations tell them apart. */
export const securitySchemes: Readonly<Record<string, JsonObject>> = {
  bearer: { type: 'http', scheme: 'bearer' },
  basic: { type: 'http', scheme: 'basic' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  session: { type: 'apiKey', in: 'cookie', name: 'session' },
  mutualTls: { type: 'mutualTLS' },
};
const schemeOf: Readonly<Record<string, string>> = {
  ...{ jwt: 'bearer', bearer: 'bearer', basic: 'basic', api_key: 'apiKey', session: 'session', mtls: 'mutualTls' },
};

/** null: nobody was let in, so that nothing is known. An empty requirement: some came without and were answered. */
export function securityOf({ stats }: Endpoint): JsonObject[] | null {
  const answered = Object.entries(stats.credentials).filter(([, [ok]]) => ok > 0);
  if (answered.length === 0) return null;
  const names = new Set(answered.flatMap(([kind]) => schemeOf[kind] ?? []));
  const required = [...names].sort().map((name): JsonObject => ({ [name]: [] }));
  const isOpen = answered.some(([kind]) => kind === 'none');
  return isOpen && required.length > 0 ? [{}, ...required] : required;
}

const queryParameter = (name: string, kinds: Counts): JsonObject => ({
  ...{ name, in: 'query' },
  schema: schemaOfKinds(Object.keys(kinds).sort()),
});

/** Of the query, by name; `known`: those that are declared already. */
export const queryParameters = ({ stats }: Endpoint, known: (name: string) => boolean = () => false): JsonObject[] =>
  Object.entries(stats.parameters)
    .filter(([name]) => name.startsWith('query:') && name !== 'query:')
    .map(([name, kinds]) => [name.slice('query:'.length), kinds] as const)
    .filter(([name]) => !known(name))
    .sort(byName)
    .map(([name, kinds]) => queryParameter(name, kinds));

const isOperationName = (segment = ''): boolean => /^(query|mutation|subscription):/.test(segment);

/** Operations of GraphQL stand below the path that they share (proxy/observation/observe-finished.ts). */
export function pathOf({ template }: Pick<Endpoint, 'template'>): {
  readonly path: string;
  readonly isGraphql: boolean;
} {
  const isGraphql = isOperationName(segmentsOf(template).at(-1));
  const path = isGraphql ? template.slice(0, template.lastIndexOf('/')) || '/' : template;
  return { path, isGraphql };
}

const integers: ReadonlySet<string> = new Set(['integer', 'year']);

/** The n-th parameter of a path, by the values that stood there. */
function valueSchema(kinds: readonly string[]): JsonObject {
  if (kinds.length > 0 && kinds.every((kind) => integers.has(kind))) return { type: 'integer' };
  return kinds.length === 1 && kinds[0] === 'uuid' ? { type: 'string', format: 'uuid' } : { type: 'string' };
}

/** Names are those of `path`, which the document may have given; kinds are those of the endpoint at the same place. */
function pathParameters(path: string, { segments }: Endpoint): JsonObject[] {
  const kinds = segments.flatMap(({ evidence }) => (evidence === null ? [] : [Object.keys(evidence.kinds)]));
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name], index) => ({
    ...{ name, in: 'path', required: true, schema: valueSchema(kinds[index] ?? []) },
  }));
}

/** `path`: as the document has it, whose parameters are declared with it. */
export function operationOf(endpoint: Endpoint, path: string): JsonObject {
  const { isGraphql } = pathOf(endpoint);
  const parameters = [...pathParameters(path, endpoint), ...queryParameters(endpoint)];
  const body = requestBody(endpoint, isGraphql);
  const security = securityOf(endpoint);
  return {
    description: `Seen ${endpoint.hits} times from ${endpoint.firstSeen.toISOString()} on.`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: responses(endpoint),
    ...(security === null ? {} : { security }),
  };
}
