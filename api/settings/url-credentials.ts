// Credentials inside URLs: user and password, values of the query, and parts of the path that let in whoever knows them
// (webhooks, feeds by key). Readers see the rest, which says where it goes.
import { keptSecret } from '#settings';

/**
 * How the path of a URL is judged (`x-url` of its schema). `webhook`: the path is the credential. `keyed`: parts of it
 * that look made by a machine are. `plain`: it is none, such as a tenant's number in an issuer.
 */
export type UrlKind = 'webhook' | 'keyed' | 'plain';

/** Eight characters with letters and digits, or twenty without a dot: no name that a person gave. */
const looksMade = (segment: string): boolean =>
  (segment.length >= 8 && /\d/.test(segment) && /[A-Za-z]/.test(segment)) ||
  (segment.length >= 20 && !segment.includes('.')) ||
  /[=:~]/.test(segment);

/** Behind names like these comes what they name. */
const namesSecret = /^(?:api-?)?(?:keys?|tokens?|secrets?|auth|access|webhooks?|hooks?|services)$/i;

function maskPath(path: string, kind: UrlKind): string {
  if (kind === 'plain' || path === '' || path === '/') return path;
  if (kind === 'webhook') return `/${keptSecret}`;
  const segments = path.split('/');
  return segments
    .map((segment, index) =>
      segment !== '' && (looksMade(segment) || namesSecret.test(segments[index - 1] ?? '')) ? keptSecret : segment,
    )
    .join('/');
}

function maskQuery(query: string): string {
  return query
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? (pair === '' ? '' : keptSecret) : `${pair.slice(0, at + 1)}${keptSecret}`;
    })
    .join('&');
}

/**
 * The URL as readers see it; what is no credential stays as it was written. Linear in its length, and total: text of
 * another form is taken apart at the same places.
 */
export function maskUrl(url: string, kind: UrlKind): string {
  const scheme = url.indexOf('://');
  if (scheme < 0) return url;
  const rest = url.slice(scheme + 3);
  const authorityEnd = rest.search(/[/?#]/);
  const authority = authorityEnd < 0 ? rest : rest.slice(0, authorityEnd);
  const behind = authorityEnd < 0 ? '' : rest.slice(authorityEnd);
  const at = authority.lastIndexOf('@');
  const host = at < 0 ? authority : `${keptSecret}@${authority.slice(at + 1)}`;
  const fragmentAt = behind.indexOf('#');
  const beforeFragment = fragmentAt < 0 ? behind : behind.slice(0, fragmentAt);
  const queryAt = beforeFragment.indexOf('?');
  const path = queryAt < 0 ? beforeFragment : beforeFragment.slice(0, queryAt);
  return [
    url.slice(0, scheme + 3),
    host,
    maskPath(path, kind),
    queryAt < 0 ? '' : `?${maskQuery(beforeFragment.slice(queryAt + 1))}`,
    fragmentAt < 0 ? '' : `#${keptSecret}`,
  ].join('');
}
