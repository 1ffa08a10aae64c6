// What an OpenAPI document says several times, said once: schemas that stand at more than one place become components,
// named by the first place. `expand` is the way back, and the test of it.

type Json = unknown;
type Members = Readonly<Record<string, Json>>;

/** Shorter ones are as easily read where they stand. */
const sharedCharactersMin = 150;

const isMembers = (value: Json): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isSchema = (value: Json): value is Members =>
  isMembers(value) && ('type' in value || 'anyOf' in value || 'allOf' in value);
const capital = (text: string): string =>
  text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Words of a place that tell nothing. */
const silent = new Set(['properties', 'content', 'schema', 'responses', 'application/json', 'requestBody', 'anyOf']);
const words: Readonly<Record<string, string>> = { items: 'Item', requestBody: 'Body' };

/** `visit` for every schema within, outermost first; what it returns other than undefined takes the schema's place. */
function map(value: Json, place: readonly string[], visit: (schema: Members, place: readonly string[]) => Json): Json {
  const own = isSchema(value) && !isPropertiesOf(place) ? visit(value, place) : undefined;
  if (own !== undefined) return own;
  if (Array.isArray(value)) return value.map((one) => map(one, place, visit));
  if (!isMembers(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one, [...place, name], visit)]));
}

/** The list of an object's properties is no schema, even where one of them is called `type`. */
const isPropertiesOf = (place: readonly string[]): boolean =>
  place.at(-1) === 'properties' && place.at(-2) !== 'properties';

function nameOf(place: readonly string[], taken: ReadonlyMap<string, Json>): string {
  const [operation = '', ...rest] = place;
  const said = rest.filter((word) => !silent.has(word)).map((word) => words[word] ?? word.replace(/^2\d\d$/, 'Answer'));
  const body = rest.includes('requestBody') ? 'Body' : '';
  const name = capital([operation, body, ...said].join(' '));
  for (let number = 1; ; number++) {
    const tried = number === 1 ? name : `${name}${number}`;
    if (!taken.has(tried)) return tried;
  }
}

type Paths = Readonly<Record<string, Readonly<Record<string, Members>>>>;

/** The same paths with references, and the schemas that they name. */
export function shareSchemas(paths: Paths): { readonly paths: Paths; readonly schemas: Record<string, Json> } {
  const counts = new Map<string, number>();
  map(paths, [], (schema) => {
    const text = JSON.stringify(schema);
    if (text.length >= sharedCharactersMin) counts.set(text, (counts.get(text) ?? 0) + 1);
    return undefined;
  });
  const schemas = new Map<string, Json>();
  const names = new Map<string, string>();
  const share = (schema: Members, place: readonly string[]): Json => {
    const text = JSON.stringify(schema);
    if ((counts.get(text) ?? 0) < 2) return undefined;
    const known = names.get(text);
    const name = known ?? nameOf(place, schemas);
    if (known === undefined) {
      names.set(text, name);
      schemas.set(name, null); // keeps its place before those that stand within
      const within = Object.entries(schema).map(([key, one]) => [key, map(one, [...place, key], share)]);
      schemas.set(name, Object.fromEntries(within));
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const shared: Record<string, Record<string, Members>> = {};
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods))
      (shared[path] ??= {})[method] = map(operation, [String(operation['operationId'])], share) as Members;
  return withoutSingles({ paths: shared, schemas: Object.fromEntries(schemas) });
}

type Shared = { readonly paths: Paths; readonly schemas: Record<string, Json> };

/** What stands several times only because what it is part of does is written into that again. */
function withoutSingles(shared: Shared): Shared {
  const counts = new Map<string, number>();
  for (const [, name = ''] of JSON.stringify(shared).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  const put = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(put);
    if (!isMembers(value)) return value;
    const name = typeof value['$ref'] === 'string' ? value['$ref'].split('/').at(-1) : undefined;
    if (name !== undefined && counts.get(name) === 1) return put(shared.schemas[name]);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, put(one)]));
  };
  const kept = Object.entries(shared.schemas).filter(([name]) => counts.get(name) !== 1);
  return {
    paths: put(shared.paths) as Paths,
    schemas: Object.fromEntries(kept.map(([name, schema]) => [name, put(schema)])),
  };
}

/** A part of a document with every reference replaced by what it names. */
export function expand(document: Members, value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => expand(document, one));
  if (!isMembers(value)) return value;
  const { $ref } = value;
  if (typeof $ref === 'string') {
    const named = $ref
      .slice(2)
      .split('/')
      .reduce<Json>((at, name) => (isMembers(at) ? at[name] : undefined), document);
    if (named === undefined) throw new Error(`nothing is called ${$ref}`);
    return expand(document, named);
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, expand(document, one)]));
}
