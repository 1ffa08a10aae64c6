// The OpenAPI 3.1 document of this API, made of the endpoint rows: what the routes enforce is what it says.
import type { TSchema } from '@sinclair/typebox';
import { writes, type Endpoint } from '../endpoint.js';
import { base } from '../mount.js';
import { permissionTable } from '../permissions.js';
import { shareSchemas } from './share.js';

const refusal = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
});

const refusals: Readonly<Record<string, readonly [name: string, description: string]>> = {
  '400': ['Unreadable', 'cannot be read'],
  '401': ['Unknown', 'no token, or one that is unknown, expired or revoked'],
  '403': ['Denied', 'the permission or the scope is missing; a read-only token on a request that writes'],
  '404': ['NotThere', 'unknown, or not visible to the caller'],
  '409': ['Conflict', 'the state or the version does not allow it'],
  '422': ['Unfit', 'does not fit the schema'],
};
const refusalReferences = Object.fromEntries(
  Object.entries(refusals).map(([status, [name]]) => [status, { $ref: `#/components/responses/${name}` }]),
);

/** The operations, each with all that it says. */
export function pathsOf(endpoints: readonly Endpoint[]): Record<string, Record<string, Record<string, unknown>>> {
  const paths: Record<string, Record<string, Record<string, unknown>>> = {};
  for (const row of endpoints) {
    const path = `${base}${row.path}`.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[row.method.toLowerCase()] = operationOf(row);
  }
  return paths;
}

/** The whole document; `brand` stands in its title. */
export function toOpenApi(endpoints: readonly Endpoint[], brand: string): Record<string, unknown> {
  const { paths, schemas } = shareSchemas(pathsOf(endpoints));
  return {
    openapi: '3.1.0',
    info: {
      title: `${brand} vulnerability management`,
      version: '1',
      description: 'Lists take limit and offset (or cursor). Refusals are {"detail": string} with the status.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'a session token of POST /api/v1/auth/login, or apt_…' },
      },
      schemas: {
        Refusal: { type: 'object', required: ['detail'], properties: { detail: { type: 'string' } } },
        ...schemas,
      },
      responses: Object.fromEntries(Object.values(refusals).map(([name, said]) => [name, refusal(said)])),
    },
    paths,
  };
}

function operationOf(row: Endpoint): Record<string, unknown> {
  const names = [...row.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  const fields = row.query?.properties ?? {};
  const required: readonly string[] = row.query?.required ?? [];
  return {
    tags: [row.path.split('/')[1] ?? ''],
    summary: row.summary,
    operationId: row.method.toLowerCase() + toCamel(row.path),
    description: permissionLine(row),
    ...(row.permission === 'public' ? { security: [] } : {}),
    'x-permission': row.permission,
    'x-kind': row.kind,
    'x-read-only-token': !writes(row),
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...Object.entries(fields).map(([name, schema]) => ({
        name,
        in: 'query',
        required: required.includes(name),
        schema,
      })),
    ],
    ...bodyOf(row),
    responses: { [String(row.status ?? 200)]: answerOf(row), ...refusalReferences },
  };
}

/** `/a/:b-c` → `ABC` */
const toCamel = (path: string): string => path.replace(/[:/_-]+(\w)/g, (_, letter: string) => letter.toUpperCase());

function permissionLine({ permission, inPerson }: Endpoint): string {
  if (permission === 'public') return 'Anybody may ask.';
  const who = inPerson === true ? ' Tokens are refused.' : '';
  if (permission === 'self') return `Whoever is logged in.${who}`;
  return `Needs ${permission}: ${permissionTable[permission]}.${who}`;
}

function bodyOf({ body, upload }: Endpoint): Record<string, unknown> {
  if (upload !== undefined) {
    const { properties } = upload.fields;
    const file = { type: 'string', format: 'binary', description: `at most ${upload.bytesMax} bytes` };
    return {
      requestBody: {
        required: true,
        content: {
          'multipart/form-data': {
            schema: { type: 'object', properties: { ...properties, file }, required: ['file'] },
          },
          'application/octet-stream': { schema: file },
          ...(body === undefined ? {} : { 'application/json': { schema: body } }),
        },
      },
    };
  }
  return body === undefined
    ? {}
    : { requestBody: { required: true, content: { 'application/json': { schema: body } } } };
}

function answerOf({ status, answer, mediaType }: Endpoint): Record<string, unknown> {
  if (status === 204) return { description: 'done' };
  const schema: TSchema | Record<string, never> = answer ?? {};
  return { description: 'the answer', content: { [mediaType ?? 'application/json']: { schema } } };
}
