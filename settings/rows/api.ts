// Specifications of APIs: which stored version stands for which site, and what becomes of what does not fit it.
import { Type } from '@sinclair/typebox';
import { Choice, closed, member, Method, OrNull, Path, setting, Shaped, Whole } from '../row.js';

const actions = ['ignore', 'alert', 'block'] as const;

const OperationAction = Type.Object(
  {
    method: member(Method(), 'method of the operation, or * for all of the path'),
    path: member(Path(), 'path of the operation as the specification has it, such as /orders/{id}'),
    action: Choice(actions, 'block'),
  },
  closed,
);

const Specification = Type.Object(
  {
    site: member(Type.String({ minLength: 1, maxLength: 100 }), 'name of the site whose API it describes'),
    name: member(
      Shaped('^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$', 'begin with a letter or digit; then also . _ -'),
      'name of the specification; a site may have several',
    ),
    version: member(Whole(1, 1_000_000_000, 1), 'version that POST /api/spec has answered'),
    base_path: OrNull(
      Shaped('^(/[^?#{}\\u0000-\\u0020\\u007f]*)?$', 'write a path that begins with "/", or nothing', {
        maxLength: 1024,
      }),
      'what stands before its paths in requests; null takes the paths of its servers, below the prefix of the site',
    ),
    action: OrNull(Choice(actions, 'block'), 'null follows the global schema_action'),
    response_action: member(
      Choice(actions, 'alert'),
      'for answers that hold what the specification does not declare; block withholds them; no more than `action`',
    ),
    unknown_paths: member(
      Choice(actions, 'ignore'),
      'for requests whose path no specification of the site declares; no more than `action`',
    ),
    operations: member(
      Type.Array(OperationAction, { maxItems: 2000, default: [] }),
      'what some operations have otherwise',
    ),
  },
  closed,
);

export const apiRows = {
  api_specs: setting(Type.Array(Specification, { maxItems: 500, default: [] }), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/change/steps/specifications.ts',
    description:
      'specifications of APIs that are in force, each by site, name and version; POST /api/spec writes an entry. ' +
      'Their methods and media types are allowed to their site whatever schema_action says',
  }),
  graphql_paths: setting(
    Type.Array(Path(), {
      maxItems: 200,
      uniqueItems: true,
      default: ['/graphql', '/gql', '/api/graphql', '/api/gql', '/v1/graphql', '/api/v1/graphql'],
    }),
    {
      access: 'operator',
      reach: ['data'],
      enforcedBy: 'proxy/graphql/endpoints.ts',
      description:
        'whole paths of GraphQL endpoints below the prefix of their site: there rules see the strings, comments and ' +
        'variables of a document and not its punctuation. Operations that a specification declares to take GraphQL ' +
        'count as well. Anywhere else a document is inspected as it came',
    },
  ),
};
