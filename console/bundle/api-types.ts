// The OpenAPI documents of the control plane and of the vulnerability manager → TypeScript types for the console's
// client: one member a route, with what goes in (path, query, body) and what comes back. Generated at each bundle,
// never committed: the documents are.
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly $ref?: string;
  readonly nullable?: boolean;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

const isName = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name);
const key = (name: string): string => (isName(name) ? name : JSON.stringify(name));
const typeName = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, '_');

/** JSON Schema → a type, on one line. What it does not know is `unknown`, never `any`. */
export function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return 'unknown';
  const { $ref, anyOf, oneOf, allOf } = schema;
  if ($ref !== undefined) return `Schemas[${JSON.stringify(typeName($ref.split('/').at(-1) ?? ''))}]`;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const union = anyOf ?? oneOf;
  if (union !== undefined) return [...new Set(union.map(typeOf))].join(' | ');
  if (allOf !== undefined) return allOf.map((one) => `(${typeOf(one)})`).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((type: string) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      return `(${typeOf(schema.items)})[]`;
    case 'object':
      return objectType(schema);
    default:
      return schema.properties === undefined ? 'unknown' : objectType(schema);
  }
}

function objectType({ properties, required = [], additionalProperties, patternProperties }: Schema): string {
  const members = Object.entries(properties ?? {}).map(
    ([name, inner]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(inner)}`,
  );
  if (members.length > 0) return `{ ${members.join('; ')} }`;
  const [pattern] = Object.values(patternProperties ?? {});
  const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : typeOf(pattern);
  return `{ [name: string]: ${values} }`;
}

const contentType = (content: Readonly<Record<string, { readonly schema?: Schema }>> | undefined): string =>
  content === undefined ? 'null' : typeOf(Object.values(content)[0]?.schema);

function routeType(operation: Operation): string {
  const parametersIn = (where: string): string => {
    const found = (operation.parameters ?? []).filter((one) => one.in === where);
    if (found.length === 0) return 'undefined';
    const members = found.map(
      ({ name, required = false, schema }) => `${key(name)}${required ? '' : '?'}: ${typeOf(schema)}`,
    );
    return `{ ${members.join('; ')} }`;
  };
  const fine = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith('2'));
  const replies = [...new Set(fine.map(([, { content }]) => contentType(content)))];
  const body = operation.requestBody === undefined ? 'undefined' : contentType(operation.requestBody.content);
  const reply = replies.length === 0 ? 'unknown' : replies.join(' | ');
  return `{ params: ${parametersIn('path')}; query: ${parametersIn('query')}; body: ${body}; reply: ${reply} }`;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** One document of several. Throws Error where two of them mean different things by one name. */
export function mergeDocuments(documents: readonly OpenApiDocument[]): OpenApiDocument {
  const merge = <Value>(what: string, all: readonly (Readonly<Record<string, Value>> | undefined)[]) => {
    const merged = new Map<string, Value>();
    for (const [name, value] of all.flatMap((one) => Object.entries(one ?? {}))) {
      if (merged.has(name)) throw new Error(`Two OpenAPI documents have the ${what} ${name}.`);
      merged.set(name, value);
    }
    return Object.fromEntries(merged);
  };
  const paths = merge(
    'path',
    documents.map((one) => one.paths),
  );
  const schemas = merge(
    'schema',
    documents.map((one) => one.components?.schemas),
  );
  return { paths, components: { schemas } };
}

/** The text of a module that exports `Schemas` and `Routes` (`'GET /api/events'` → path, query, body, reply). */
export function renderApiTypes({ paths, components }: OpenApiDocument): string {
  const schemas = Object.entries(components?.schemas ?? {}).map(
    ([name, schema]) => `  ${key(typeName(name))}: ${typeOf(schema)};`,
  );
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => `  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${routeType(operation)};`),
  );
  return [
    '// Generated from the OpenAPI documents by console/bundle/api-types.ts.',
    `export interface Schemas {\n${schemas.join('\n')}\n}`,
    `export interface Routes {\n${routes.join('\n')}\n}`,
    '',
  ].join('\n');
}
