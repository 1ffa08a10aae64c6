// Swagger 2.0 → OpenAPI 3.0, as far as the data plane and the posture ask. Written here because the converters of the
// registry want a newer Node.js than this house supports, or have had no release for years.
// Source: Swagger 2.0 and OpenAPI 3.0.4, both published by the OpenAPI Initiative.
import { arrayOf, isObject, objectOf, textOf, type JsonObject } from './problem.js';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
const schemaMembers = [
  'type',
  'format',
  'items',
  'default',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'enum',
  'multipleOf',
];

const moved: readonly (readonly [string, string])[] = [
  ['#/definitions/', '#/components/schemas/'],
  ['#/parameters/', '#/components/parameters/'],
  ['#/responses/', '#/components/responses/'],
];

function rewriteReferences(node: unknown, bodies: ReadonlySet<string>): unknown {
  if (Array.isArray(node)) return (node as unknown[]).map((item) => rewriteReferences(item, bodies));
  if (!isObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => {
      if (name !== '$ref' || typeof value !== 'string') return [name, rewriteReferences(value, bodies)];
      if (bodies.has(value)) return [name, value.replace('#/parameters/', '#/components/requestBodies/')];
      const move = moved.find(([from]) => value.startsWith(from));
      return [name, move === undefined ? value : move[1] + value.slice(move[0].length)];
    }),
  );
}

const pick = (from: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));

function styleOf(parameter: JsonObject): JsonObject {
  if (parameter['type'] !== 'array') return {};
  const isQuery = parameter['in'] === 'query';
  switch (parameter['collectionFormat']) {
    case 'multi':
      return { style: 'form', explode: true };
    case 'ssv':
      return isQuery ? { style: 'spaceDelimited', explode: false } : {};
    case 'pipes':
      return isQuery ? { style: 'pipeDelimited', explode: false } : {};
    default:
      return isQuery ? { style: 'form', explode: false } : { explode: false };
  }
}

/** What items of an array in a parameter look like; nested arrays keep theirs. */
const schemaOfParameter = (parameter: JsonObject): JsonObject =>
  parameter['type'] === 'file' ? { type: 'string', format: 'binary' } : pick(parameter, schemaMembers);

const toParameter = (parameter: JsonObject): JsonObject => ({
  ...pick(parameter, ['name', 'in', 'description', 'required', 'allowEmptyValue']),
  ...styleOf(parameter),
  schema: schemaOfParameter(parameter),
});

function contentOf(types: readonly string[], schema: unknown): JsonObject {
  return Object.fromEntries(types.map((type) => [type, schema === undefined ? {} : { schema }]));
}

const bodyOf = (parameter: JsonObject, consumes: readonly string[]): JsonObject => ({
  ...(parameter['required'] === true ? { required: true } : {}),
  content: contentOf(consumes, parameter['schema']),
});

function formOf(parameters: readonly JsonObject[], consumes: readonly string[]): JsonObject {
  const hasFile = parameters.some(({ type }) => type === 'file');
  const form = consumes.filter((type) => /^(application\/x-www-form-urlencoded|multipart\/form-data)$/i.test(type));
  const types = form.length > 0 ? form : [hasFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded'];
  const required = parameters.filter((one) => one['required'] === true).map(({ name }) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(parameters.map((one) => [textOf(one['name']), schemaOfParameter(one)])),
    ...(required.length > 0 ? { required } : {}),
  };
  return { ...(required.length > 0 ? { required: true } : {}), content: contentOf(types, schema) };
}

const responseOf = (response: JsonObject, produces: readonly string[]): JsonObject =>
  response['$ref'] !== undefined
    ? response
    : {
        description: textOf(response['description']),
        ...(response['schema'] === undefined ? {} : { content: contentOf(produces, response['schema']) }),
      };

const typesOf = (value: unknown, fallback: readonly string[]): readonly string[] =>
  Array.isArray(value) && value.length > 0 ? (value as unknown[]).map(String) : fallback;

interface Context {
  readonly root: JsonObject;
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
}

/** A parameter of the document, for what has to be known of it here: whether it is a body. */
function parameterBehind(root: JsonObject, parameter: JsonObject): JsonObject {
  const reference = textOf(parameter['$ref']);
  return reference.startsWith('#/parameters/')
    ? objectOf(objectOf(root['parameters'])[reference.slice('#/parameters/'.length)])
    : parameter;
}

function toOperation(operation: JsonObject, shared: readonly JsonObject[], { root, ...defaults }: Context): JsonObject {
  const consumes = typesOf(operation['consumes'], defaults.consumes);
  const produces = typesOf(operation['produces'], defaults.produces);
  const own = arrayOf(operation['parameters']).map(objectOf);
  const keyOf = (one: JsonObject): string => `${String(one['in'])} ${String(one['name'])}`;
  const ownKeys = new Set(own.map((one) => keyOf(parameterBehind(root, one))));
  const all = [...shared.filter((one) => !ownKeys.has(keyOf(parameterBehind(root, one)))), ...own];
  const of = (where: string): JsonObject[] => all.filter((one) => parameterBehind(root, one)['in'] === where);
  const form = of('formData').map((one) => parameterBehind(root, one));
  const [body] = of('body').map((one) => parameterBehind(root, one));
  const requestBody = body !== undefined ? bodyOf(body, consumes) : form.length > 0 ? formOf(form, consumes) : null;
  const rest = all.filter((one) => !['body', 'formData'].includes(textOf(parameterBehind(root, one)['in'])));
  return {
    ...pick(operation, ['operationId', 'summary', 'description', 'tags', 'deprecated', 'security']),
    parameters: rest.map((one) => (one['$ref'] === undefined ? toParameter(one) : one)),
    ...(requestBody === null ? {} : { requestBody }),
    responses: Object.fromEntries(
      Object.entries(objectOf(operation['responses'])).map(([code, one]) => [
        code,
        responseOf(objectOf(one), produces),
      ]),
    ),
  };
}

function toPathItem(item: JsonObject, context: Context): JsonObject {
  const shared = arrayOf(item['parameters']).map(objectOf);
  return Object.fromEntries(
    methods.flatMap((method) =>
      isObject(item[method]) ? [[method, toOperation(item[method], shared, context)] as const] : [],
    ),
  );
}

function toSecurityScheme(scheme: JsonObject): JsonObject {
  if (scheme['type'] === 'basic') return { type: 'http', scheme: 'basic' };
  if (scheme['type'] !== 'oauth2') return pick(scheme, ['type', 'name', 'in', 'description']);
  const names: Readonly<Record<string, string>> = { application: 'clientCredentials', accessCode: 'authorizationCode' };
  const flow = textOf(scheme['flow'], 'implicit');
  const details = pick(scheme, ['authorizationUrl', 'tokenUrl']);
  return { type: 'oauth2', flows: { [names[flow] ?? flow]: { ...details, scopes: objectOf(scheme['scopes']) } } };
}

function serversOf(root: JsonObject): JsonObject[] {
  const base = textOf(root['basePath'], '/');
  const host = textOf(root['host']);
  const schemes = typesOf(root['schemes'], ['https']);
  return host === '' ? [{ url: base }] : schemes.map((scheme) => ({ url: `${scheme}://${host}${base}` }));
}

const mapValues = (value: unknown, change: (one: JsonObject) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(objectOf(value)).map(([name, one]) => [name, change(objectOf(one))]));

/** `root` is a Swagger 2.0 document. Never throws; what it does not know is left out. */
export function fromSwagger2(root: JsonObject): JsonObject {
  const context: Context = {
    root,
    consumes: typesOf(root['consumes'], ['application/json']),
    produces: typesOf(root['produces'], ['application/json']),
  };
  const shared = Object.entries(objectOf(root['parameters']));
  const bodies = shared.filter(([, one]) => objectOf(one)['in'] === 'body');
  const converted = {
    openapi: '3.0.4',
    info: root['info'],
    servers: serversOf(root),
    ...pick(root, ['tags', 'security']),
    paths: mapValues(root['paths'], (item) => toPathItem(item, context)),
    components: {
      schemas: objectOf(root['definitions']),
      parameters: Object.fromEntries(
        shared
          .filter(([, one]) => !['body', 'formData'].includes(textOf(objectOf(one)['in'])))
          .map(([name, one]) => [name, toParameter(objectOf(one))]),
      ),
      requestBodies: Object.fromEntries(
        bodies.map(([name, one]) => [name, bodyOf(objectOf(one), context.consumes)] as const),
      ),
      responses: mapValues(root['responses'], (one) => responseOf(one, context.produces)),
      securitySchemes: mapValues(root['securityDefinitions'], toSecurityScheme),
    },
  };
  return rewriteReferences(converted, new Set(bodies.map(([name]) => `#/parameters/${name}`))) as JsonObject;
}
