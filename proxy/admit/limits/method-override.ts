// Methods that a request asks for beyond the one of its line: frameworks take a POST for a DELETE by a header field
// (Express, ASP.NET, Rack, Symfony, Google's APIs) or by a parameter `_method` (Rails, Laravel, Spring). A limit of the
// method that is carried out holds as well. A form's `_method` is not seen here: no gate waits for a body.
import { decodePercent } from '#engine';

/** Without what CGI, WSGI and PHP take for the same: `X_HTTP_Method` is that field, too. */
const fields: ReadonlySet<string> = new Set([
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-method',
]);
const nameLengths: ReadonlySet<number> = new Set([...fields].map(({ length }) => length));
const methodsMax = 8;
const noMethods: readonly string[] = [];

/** In capitals, each once; of more than eight the first. */
export function overridingMethods(uri: string, headers: readonly string[]): readonly string[] {
  let found: Set<string> | null = null;
  const take = (text: string): void => {
    for (const part of text.split(',')) {
      const method = part.trim().toUpperCase();
      if (method !== '' && (found?.size ?? 0) < methodsMax) (found ??= new Set()).add(method);
    }
  };
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    if (nameLengths.has(name.length) && fields.has(name.toLowerCase().replaceAll('_', '-')))
      take(headers[index + 1] as string);
  }
  const query = uri.indexOf('?');
  if (query !== -1) for (const value of valuesOfQuery(uri.slice(query + 1))) take(value);
  return found === null ? noMethods : [...(found as Set<string>)];
}

const decoded = (text: string): string => decodePercent(text.replaceAll('+', ' '));

function* valuesOfQuery(query: string): Generator<string> {
  if (!/method/i.test(query) && !query.includes('%')) return;
  for (const pair of query.split(/[&;]/)) {
    const equals = pair.indexOf('=');
    if (equals === -1) continue;
    // PHP takes blanks and dots for underscores, and `_method[]` for a list
    const name = decoded(pair.slice(0, equals)).trimStart().toLowerCase().replace(/[ .]/g, '_').replace(/\[.*$/, '');
    // Jersey takes the field's name for one of the query, too
    if (name === '_method' || fields.has(name.replaceAll('_', '-'))) yield decoded(pair.slice(equals + 1));
  }
}
