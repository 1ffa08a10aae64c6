// Forms of a GraphQL schema that describes itself: an operation for each field of its queries and mutations that takes
// values, with the values as variables and those fields of the answer that are plain.
import {
  buildClientSchema,
  getIntrospectionQuery,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type IntrospectionQuery,
} from 'graphql';
import { paramsOfJson } from '../browser/sent.js';
import { toForm } from '../http/forms.js';
import type { Form, Param } from '../model.js';

export const graphqlPaths = ['/graphql', '/api/graphql', '/v1/graphql', '/query'];
export const introspection = JSON.stringify({ query: getIntrospectionQuery({ descriptions: false }) });

const operationsMax = 200;
const schemaBytesMax = 1_000_000;
const depthMax = 2;

function sampleOf(type: GraphQLInputType, name: string, depth = 0): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType, name, depth);
  if (isListType(type)) return [sampleOf(type.ofType, name, depth)];
  if (isEnumType(type)) return type.getValues()[0]?.name ?? null;
  if (isInputObjectType(type)) {
    if (depth > depthMax) return {};
    return Object.fromEntries(
      Object.values(type.getFields()).map((one) => [one.name, sampleOf(one.type, one.name, depth + 1)]),
    );
  }
  if (type.name === 'Int' || type.name === 'Float') return 1;
  if (type.name === 'Boolean') return true;
  if (type.name === 'ID' || /id$/i.test(name)) return '1';
  return /ur[il]|link|href/i.test(name) ? 'https://www.example.com/' : /mail/i.test(name) ? 'scan@example.com' : 'scan';
}

/** Plain fields, and those of objects below that need no values. */
function selectionOf(type: GraphQLOutputType, depth = 0): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (!isObjectType(named)) return ' { __typename }';
  const parts = Object.values(named.getFields())
    .slice(0, 40)
    .flatMap((field): string[] => {
      if (field.args.some(({ type: one }) => isNonNullType(one))) return [];
      if (isLeafType(getNamedType(field.type))) return [field.name];
      return depth < 1 ? [`${field.name}${selectionOf(field.type, depth + 1)}`] : [];
    });
  return ` { ${parts.length === 0 ? '__typename' : parts.join(' ')} }`;
}

function formOf(kind: 'query' | 'mutation', field: GraphQLField<unknown, unknown>, url: string): Form {
  const { name, args, type } = field;
  const declared = args.map((one) => `$${one.name}: ${String(one.type)}`).join(', ');
  const given = args.map((one) => `${one.name}: $${one.name}`).join(', ');
  const query = `${kind} ${name}${args.length === 0 ? '' : `(${declared})`} { ${name}${
    args.length === 0 ? '' : `(${given})`
  }${selectionOf(type)} }`;
  const variables = Object.fromEntries(args.map((one) => [one.name, sampleOf(one.type, one.name)]));
  const values = paramsOfJson({ variables }).map(
    (one): Param => ({ ...one, name: one.name.replace(/^variables\./, `${name}.`) }),
  );
  const text: Param = { name: 'query', value: query, place: 'body', isFixed: true };
  return toForm({ method: 'POST', url, params: [text, ...values], bodyKind: 'json' });
}

/** None for an answer that holds no schema. */
export function formsOfGraphql(body: string, url: string): { readonly form: Form; readonly operation: string }[] {
  if (body.length > schemaBytesMax || !body.includes('__schema')) return [];
  try {
    const { data } = JSON.parse(body) as { data: IntrospectionQuery };
    const schema = buildClientSchema(data);
    const all = [
      ...Object.values(schema.getQueryType()?.getFields() ?? {}).map((field) => ({ kind: 'query' as const, field })),
      ...Object.values(schema.getMutationType()?.getFields() ?? {}).map((field) => ({
        kind: 'mutation' as const,
        field,
      })),
    ];
    return all
      .slice(0, operationsMax)
      .map(({ kind, field }) => ({ form: formOf(kind, field, url), operation: `${kind} ${field.name}` }));
  } catch {
    // no schema, or one that describes itself in a way that it does not have
    return [];
  }
}
