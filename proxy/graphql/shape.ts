// Cheap questions ahead of parsing: whether a path says GraphQL, where a query string begins, and whether a text that
// cannot be parsed names a field of introspection.
import { decodePercent } from '#engine';

const names = ['/graphql', '/graphiql', '/gql'] as const;

/** Finds each of `names`, anywhere: asked first, because hardly any request has one and all would be cut and copied. */
const someName = /\/g(?:raphi?)?ql/i;

/** True where a segment of the path is one of the usual names of an endpoint, in any spelling. */
export function isGraphqlPath(uri: string): boolean {
  const end = uri.indexOf('?');
  const escape = uri.indexOf('%');
  const isEscaped = escape !== -1 && (end === -1 || escape < end);
  if (!isEscaped && !someName.test(uri)) return false;
  const raw = end === -1 ? uri : uri.slice(0, end);
  const path = (isEscaped ? decodePercent(raw) : raw).toLowerCase();
  for (const name of names) {
    const at = path.indexOf(name);
    if (at === -1) continue;
    const next = path[at + name.length];
    if (next === undefined || next === '/' || next === ';') return true;
  }
  return false;
}

/** Behind the question mark; -1: there is none, or no parameter in it is called `query`. */
export function queryStartOf(uri: string): number {
  const at = uri.indexOf('?');
  if (at === -1) return -1;
  return uri.indexOf('query=', at) !== -1 || uri.indexOf('%', at) !== -1 ? at + 1 : -1;
}

const isNameUnit = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a) || unit === 0x5f;

/** `__schema` or `__type` as a whole name (section 2.1.9); `__typename` is another one. */
export function mentionsIntrospection(text: string): boolean {
  for (const name of ['__schema', '__type'])
    for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
      const before = at === 0 ? 0 : text.charCodeAt(at - 1);
      const after = at + name.length < text.length ? text.charCodeAt(at + name.length) : 0;
      if (!isNameUnit(before) && !isNameUnit(after)) return true;
    }
  return false;
}
