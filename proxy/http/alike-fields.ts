// Names of fields that a CGI program, WSGI, Rack or PHP reads as one: all make HTTP_X_API_KEY of X-Api-Key, X_Api_Key
// and (some of them) X.Api.Key. A gate reads the one with hyphens. So that no application is given another value than
// the gate has seen, the others do not go on where something decides by that name, or where the same request has it,
// too.
import type { ProxyConfig } from '../contract/index.js';

/** A field name in lower case with `-` for whatever is no letter or digit; the same text where there is nothing. */
export const dashed = (lower: string): string => (isPlain.test(lower) ? lower : lower.replace(other, '-'));
const isPlain = /^[a-z0-9-]*$/;
// one pass: a client may send a name of as many underscores as a head has room for
const other = /[^a-z0-9-]/g;

/** By these gates, rules, the reading of bodies and the reading of answers decide, whatever is set. */
export const decidedBy: ReadonlySet<string> = new Set([
  'x-api-key',
  'user-agent',
  'content-type',
  'content-encoding',
  'content-disposition',
  'content-transfer-encoding',
  'access-control-request-method',
  'access-control-request-headers',
  // what the answer may look like, which rules and masks have to read
  'accept-encoding',
  'accept-language',
  'if-match',
  'if-none-match',
  'if-range',
  'if-modified-since',
  'if-unmodified-since',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-fetch-site',
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-method',
  'x-requested-with',
]);

type Named = Pick<ProxyConfig, 'rlZones' | 'apiSchemas'>;

/** Of a name as servers may read it (`dashed`) the one that is written in the settings, in lower case. */
export type NamedFields = ReadonlyMap<string, string>;

/**
 * Names by which the settings decide: keys of rate zones, parameters of specifications. A specification may declare
 * `api_key`: then that one goes on, and `api-key` does not. Where two spellings are declared, either does alone.
 */
export function fieldsNamedBy({ rlZones, apiSchemas }: Partial<Named>): NamedFields {
  const names = new Map<string, string>();
  const double = new Set<string>();
  const add = (name: string): void => {
    const lower = name.toLowerCase();
    const key = dashed(lower);
    if ((names.get(key) ?? lower) !== lower) double.add(key);
    names.set(key, lower);
  };
  for (const { key } of rlZones ?? []) if (key.startsWith('header:')) add(key.slice('header:'.length));
  for (const { operations } of apiSchemas ?? [])
    for (const { parameters } of operations)
      for (const { name, in: place } of parameters) if (place === 'header') add(name);
  for (const key of double) names.delete(key);
  return names;
}

/**
 * The same for each site, by its name: zones hold for all of them, and a specification for its own. What one site calls
 * `api_key` is nothing to another, whose clients send `api-key`.
 */
export function namedFieldsOfSites({ rlZones = [], apiSchemas = [] }: Partial<Named>): (site: string) => NamedFields {
  const ofAll = fieldsNamedBy({ rlZones });
  const sites = new Set(apiSchemas.map(({ site }) => site));
  const bySite = new Map(
    [...sites].map((name) => [
      name,
      fieldsNamedBy({ rlZones, apiSchemas: apiSchemas.filter(({ site }) => site === name) }),
    ]),
  );
  return (site) => bySite.get(site) ?? ofAll;
}

/** Whether the settings decide by another spelling of the name. */
export function isOtherSpelling(named: NamedFields | undefined, lower: string, plain: string | null): boolean {
  if (named === undefined || named.size === 0) return false;
  const declared = named.get(plain ?? lower);
  return declared !== undefined && declared !== lower;
}

/** Fields that are a list by their definition: several of one name are one list. */
const isList = new RegExp(
  '^(?:accept(?:-.*)?|cache-control|cookie|via|te|forwarded|x-forwarded-.*|cdn-loop|if-(?:none-)?match|pragma|' +
    'trailer)$',
);

/** Whether there are two of a field that is no list: each reader would take another. `lower`: in lower case. */
export function isTwice(headers: readonly string[], lower: string): boolean {
  if (isList.test(lower)) return false;
  let count = 0;
  for (let index = 0; index < headers.length; index += 2)
    if ((headers[index] as string).length === lower.length && (headers[index] as string).toLowerCase() === lower)
      count += 1;
  return count > 1;
}
