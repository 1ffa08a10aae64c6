// Forms of an OpenAPI document (2 and 3), with values from its examples or made for its types. References within the
// document are followed; nothing is fetched.
import { toForm } from '../http/forms.js';
import type { Form, Param, ScanMethod } from '../model.js';

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const operationsMax = 1000;
const methods: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);

function dereference(document: Fields, value: unknown, depth = 0): Fields {
  const fields = fieldsOf(value);
  const reference = textOf(fields['$ref']);
  if (reference === '' || depth > 8) return fields;
  let at: unknown = document;
  for (const part of reference.replace(/^#\//, '').split('/'))
    at = fieldsOf(at)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  return dereference(document, at, depth + 1);
}

function sampleOf(schema: Fields, name: string): unknown {
  const given = schema['example'] ?? schema['default'] ?? listOf(schema['enum'])[0] ?? listOf(schema['examples'])[0];
  if (given !== undefined) return given;
  const type = schema['type'];
  if (type === 'integer' || type === 'number') return Number(schema['minimum'] ?? 1);
  if (type === 'boolean') return true;
  const format = textOf(schema['format']);
  if (format === 'uuid') return '11111111-1111-4111-8111-111111111111';
  if (format === 'email' || /mail/i.test(name)) return 'scan@example.com';
  if (format === 'date') return '2026-01-15';
  if (format === 'uri') return 'https://www.example.com/';
  return 'scan';
}

const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function bodyOf(
  document: Fields,
  operation: Fields,
): { readonly params: Param[]; readonly kind: 'json' | 'form' | 'xml' } | null {
  const content = fieldsOf(dereference(document, operation['requestBody'])['content']);
  const found = Object.keys(content).find((type) => /json|x-www-form-urlencoded|xml/.test(type));
  const inBody = listOf(operation['parameters'])
    .map((one) => dereference(document, one))
    .find((one) => one['in'] === 'body');
  const media = found === undefined ? inBody : fieldsOf(content[found]);
  if (media === undefined) return null;
  const schema = dereference(document, media['schema']);
  const example = fieldsOf(media['example'] ?? schema['example']);
  const params = Object.entries(fieldsOf(schema['properties'])).map(([name, one]): Param => {
    const value = example[name] ?? sampleOf(dereference(document, one), name);
    return { name, value: written(value), place: 'body', ...(typeof value === 'string' ? {} : { isRaw: true }) };
  });
  const kind = found === undefined || /json/.test(found) ? 'json' : /xml/.test(found) ? 'xml' : 'form';
  return { params, kind };
}

function paramsOf(document: Fields, lists: readonly unknown[]): Param[] {
  const params: Param[] = [];
  for (const one of lists.flatMap(listOf).map((given) => dereference(document, given))) {
    const name = textOf(one['name']);
    const place = textOf(one['in']);
    if (name === '' || (place !== 'query' && place !== 'path')) continue;
    const schema = dereference(document, one['schema']);
    const value = one['example'] ?? sampleOf(Object.keys(schema).length === 0 ? one : schema, name);
    params.push({ name, value: written(value), place });
  }
  return params;
}

export function formsOfOpenApi(given: unknown, origin: string): Form[] {
  const document = fieldsOf(given);
  const isDocument = document['openapi'] !== undefined || document['swagger'] !== undefined;
  if (!isDocument) return [];
  const server = textOf(fieldsOf(listOf(document['servers'])[0])['url']) || textOf(document['basePath']);
  const base = URL.canParse(server, origin) ? new URL(server, origin) : new URL(origin);
  const forms: Form[] = [];
  for (const [path, item] of Object.entries(fieldsOf(document['paths'])))
    for (const [method, one] of Object.entries(fieldsOf(item))) {
      if (!methods.has(method) || forms.length >= operationsMax) continue;
      const operation = fieldsOf(one);
      const body = method === 'get' ? null : bodyOf(document, operation);
      const security = listOf(operation['security'] ?? document['security']);
      forms.push(
        toForm({
          method: method.toUpperCase() as ScanMethod,
          url: `${base.origin}${base.pathname.replace(/\/+$/, '')}${path}`,
          params: [
            ...paramsOf(document, [fieldsOf(item)['parameters'], operation['parameters']]),
            ...(body?.params ?? []),
          ],
          bodyKind: body?.kind ?? 'none',
          isProtected: security.length > 0,
        }),
      );
    }
  return forms;
}
