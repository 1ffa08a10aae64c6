// Which operations of a specification take GraphQL documents: there rules look at the texts of a document.
import type { JsonSchema } from '#proxy/contract';
import type { ApiModel, ApiOperation } from './document/model.js';
import { isObject } from './document/problem.js';

const hopsMax = 20;

/** Names of members, through references and combinations. */
function membersOf(schema: unknown, definitions: ApiModel['definitions'], hops = 0): string[] {
  if (!isObject(schema) || hops > hopsMax) return [];
  const own = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const target: JsonSchema | undefined = typeof schema['$ref'] === 'string' ? definitions[schema['$ref']] : undefined;
  const parts: unknown[] = [target, ...[schema['allOf'], schema['anyOf'], schema['oneOf'], schema['items']].flat()];
  return [...own, ...parts.flatMap((part) => membersOf(part, definitions, hops + 1))];
}

/** `query` alone is a search; beside it the GraphQL over HTTP draft has these (section 5). */
const saysGraphql = (names: readonly string[]): boolean =>
  names.includes('query') && (names.includes('variables') || names.includes('operationName'));

/** By its media types, or by the members of its JSON, its form or its query. */
export function takesGraphql({ body, parameters, responses }: ApiOperation, { definitions }: ApiModel): boolean {
  const content = Object.entries(body?.content ?? {});
  if (
    content.some(([type, { schema }]) => type === 'application/graphql' || saysGraphql(membersOf(schema, definitions)))
  )
    return true;
  if (Object.values(responses).some((answer) => 'application/graphql-response+json' in answer)) return true;
  return saysGraphql(parameters.filter((one) => one.in === 'query').map(({ name }) => name));
}
