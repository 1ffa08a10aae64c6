// The quick questions about a path against slow twins, which take every path apart.
import t from 'tap';
import { decodePercent, isPlainPath, pathOf } from '#engine';
import { isGraphqlEndpoint, type GraphqlConfig } from './endpoints.js';
import { isGraphqlPath } from './shape.js';

/** As it was before anything was asked ahead of it. */
function slowPath(uri: string): boolean {
  const path = decodePercent(uri.split('?', 1)[0] as string).toLowerCase();
  return ['/graphql', '/graphiql', '/gql'].some((name) => {
    const at = path.indexOf(name);
    const next = path[at + name.length];
    return at !== -1 && (next === undefined || next === '/' || next === ';');
  });
}

const trimmed = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

function slowEndpoint(paths: readonly string[], prefix: string, uri: string): boolean {
  const sent = pathOf(uri);
  if (!isPlainPath(sent) || !trimmed(sent).startsWith(prefix)) return false;
  return paths.some((below) => trimmed(below) === trimmed(sent).slice(prefix.length));
}

const parts = ['/graphql', '/gql', '/GraphiQL', '/graph', 'ql', '/%67ql', '%2fgraphql', '/', '/shop', '/api', ';a=b'];
const ends = ['', '?', '?query={a}', '?x=/graphql', '?x=%2fgql', '/', '//', '/..', '%'];

t.test('8: paths of GraphQL are found as by looking at each of them', async (t) => {
  const paths = ['/graphql', '/api/gql/', '/', '/gql'];
  const wrong: string[] = [];
  let found = 0;
  for (const first of parts)
    for (const second of parts)
      for (const third of parts)
        for (const end of ends) {
          const uri = first + second + third + end;
          const isPath = slowPath(uri);
          found += Number(isPath);
          if (isGraphqlPath(uri) !== isPath) wrong.push(`path ${uri}`);
          for (const prefix of ['', '/shop', '/api']) {
            const config = { graphqlPaths: paths } as unknown as GraphqlConfig;
            const isEndpoint = slowEndpoint(paths, prefix, uri);
            found += Number(isEndpoint);
            if (isGraphqlEndpoint(config, { name: 'shop', prefix }, uri) !== isEndpoint)
              wrong.push(`endpoint ${prefix} ${uri}`);
          }
        }
  t.strictSame(wrong, []);
  t.ok(found > 500, `${found} were some`);
});
