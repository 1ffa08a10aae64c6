// What is wrong with one declared operation: what the document says beside what traffic says. Pure.
import type { Endpoint } from '../../inventory/index.js';
import { isUnprotected } from '../../inventory/data-flow.js';
import { piiCategories } from '../../inventory/judge.js';
import type { ApiModel, ApiOperation } from '../../spec/document/model.js';
import { isOpenByNature, requiresCredentials, scanOperation } from '../scan/rules.js';
import { contentDeclares, declares } from './declared-places.js';

export type GapSeverity = 'high' | 'medium';

export interface Gap {
  readonly code: string;
  readonly severity: GapSeverity;
  /** Where in the message, or in the document; null: the operation as a whole. */
  readonly pointer: string | null;
  readonly message: string;
}

const placesMax = 20;

const dayMs = 86_400_000;

/** `seen`: its endpoints, one for each base path; empty: no request was answered. The gravest first. */
export function gapsOf(operation: ApiOperation, model: ApiModel, seen: readonly Endpoint[], nowMs: number): Gap[] {
  const gaps: Gap[] = scanOperation(operation, model).flatMap(({ rule, severity, pointer, message }) =>
    severity === 'low' ? [] : [{ code: rule, severity, pointer, message }],
  );
  gaps.push(...documentGaps(operation));
  for (const endpoint of seen)
    gaps.push(
      ...authGaps(operation, model, endpoint),
      ...parameterGaps(operation, model, endpoint),
      ...answerGaps(operation, model, endpoint),
    );
  if (seen.length > 0) gaps.push(...useGaps(operation, seen, nowMs));
  const unique = new Map(gaps.map((gap) => [`${gap.code} ${gap.pointer}`, gap]));
  return [...unique.values()].sort((left, right) => rank(left) - rank(right));
}

const rank = ({ severity }: Gap): number => (severity === 'high' ? 0 : 1);

const medium = (code: string, pointer: string | null, message: string): Gap => ({
  ...{ code, pointer, message },
  severity: 'medium',
});

/** What enforcement could not hold anybody to. */
function documentGaps({ body, pointer }: ApiOperation): Gap[] {
  const open = Object.entries(body?.content ?? {}).filter(([, { schema }]) => schema === null || schema === true);
  return open.map(([type]) =>
    medium('unchecked-body', `${pointer}/requestBody/content/${type.replaceAll('/', '~1')}`, 'a body without a schema'),
  );
}

/** Kinds of data that somebody sends or gets who logs in or signs up. */
const ofLogins: ReadonlySet<string> = new Set(['secret', 'email', 'phone']);

function authGaps(operation: ApiOperation, model: ApiModel, endpoint: Endpoint): Gap[] {
  if (!isUnprotected(endpoint)) return [];
  const { auth, categories } = endpoint;
  const answered = endpoint.stats.credentials.none?.[0] ?? 0;
  if (requiresCredentials(operation, model)) {
    const message = `credentials are declared, and ${answered} requests without any were answered (${auth})`;
    return [{ code: 'auth-not-enforced', severity: 'high', pointer: null, message }];
  }
  // a login that says it is open takes a password without credentials and answers with a token: that is what it is for
  const isLogin = isOpenByNature(operation) && operation.security !== null;
  const sensitive = isLogin ? categories.filter((one) => !ofLogins.has(one)) : categories;
  if (sensitive.length === 0) return [];
  const message = `${sensitive.join(', ')} went to ${answered} requests without credentials`;
  return [{ code: 'sensitive-data-without-auth', severity: 'high', pointer: null, message }];
}

/** Names of a query that a declaration takes: objects are written as their members, or in brackets. */
function takesQuery({ parameters }: ApiOperation, name: string): boolean {
  const bare = name.replace(/\[.*$/s, '');
  return parameters.some((one) => {
    if (one.in !== 'query') return false;
    if (one.name === name || one.name === bare) return true;
    if (one.style !== 'form' || !one.explode || typeof one.schema !== 'object') return false;
    const { type, properties, additionalProperties: others } = one.schema;
    if (type !== 'object' && properties === undefined) return false;
    const named = typeof properties === 'object' && properties !== null ? properties : {};
    return Object.hasOwn(named, name) || (others !== undefined && others !== false);
  });
}

function parameterGaps(operation: ApiOperation, { definitions }: ApiModel, { stats }: Endpoint): Gap[] {
  const gaps: Gap[] = [];
  for (const place of Object.keys(stats.parameters)) {
    const colon = place.indexOf(':');
    const name = place.slice(colon + 1);
    if (place.startsWith('query:')) {
      if (!takesQuery(operation, name))
        gaps.push(medium('undeclared-parameter', `/query/${name}`, 'a parameter that nobody declares comes in'));
    } else if (operation.body !== null && !contentDeclares(operation.body.content, name, definitions))
      gaps.push(medium('undeclared-member', `/body${name}`, 'a member that nobody declares comes in (API3:2023)'));
  }
  for (const type of Object.keys(stats.request_types))
    if (operation.body === null) gaps.push(medium('undeclared-body', '/body', `a body of ${type} comes in`));
    else if (!takesType(Object.keys(operation.body.content), type))
      gaps.push(medium('undeclared-media-type', '/body', `${type} comes in, and is not declared`));
  return gaps.slice(0, placesMax);
}

/** `application/*` and `*` take whatever they stand for (OpenAPI 3.1 section 4.8.14). */
function takesType(declared: readonly string[], type: string): boolean {
  return declared.some(
    (one) => one === type || one === '*/*' || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))),
  );
}

function answerGaps({ responses }: ApiOperation, { definitions }: ApiModel, { stats }: Endpoint): Gap[] {
  const gaps: Gap[] = [];
  const good = Object.entries(responses).filter(([code]) => /^(2|default)/.test(code));
  const schemas = good.flatMap(([, content]) => Object.values(content).map(({ schema }) => schema));
  for (const [place, kinds] of Object.entries(stats.pii)) {
    if (!place.startsWith('response:') || schemas.length === 0) continue;
    const pointer = place.slice('response:'.length);
    if (schemas.some((schema) => declares(schema, pointer, definitions))) continue;
    const names = Object.keys(kinds);
    const isRestricted = names.some((name) => piiCategories[name]?.level === 'Restricted');
    gaps.push({
      code: 'undeclared-personal-data',
      severity: isRestricted ? 'high' : 'medium',
      pointer: `/response${pointer}`,
      message: `answers carry ${names.join(', ')} in a member that nobody declares (API3:2023)`,
    });
  }
  if (responses['default'] === undefined && Object.keys(responses).length > 0)
    for (const status of Object.keys(stats.statuses))
      if (/^2\d\d$/.test(status) && responses[status] === undefined && responses['2XX'] === undefined)
        gaps.push(medium('undeclared-status', `/response/${status}`, `answers of ${status} are not declared`));
  return gaps.slice(0, placesMax);
}

/** A deprecated operation that is used; one that fell silent although it was asked regularly. */
function useGaps({ isDeprecated }: ApiOperation, seen: readonly Endpoint[], nowMs: number): Gap[] {
  const gaps: Gap[] = [];
  const hits = seen.reduce((sum, one) => sum + one.hits, 0);
  const firstMs = Math.min(...seen.map(({ firstSeen }) => firstSeen.getTime()));
  const lastMs = Math.max(...seen.map(({ lastSeen }) => lastSeen.getTime()));
  if (isDeprecated) gaps.push(medium('deprecated-in-use', null, `it is deprecated, and was asked ${hits} times`));
  const silentDays = (nowMs - lastMs) / dayMs;
  const expectedDays = hits > 1 ? (lastMs - firstMs) / dayMs / (hits - 1) : null;
  if (silentDays > 30 && (expectedDays === null || silentDays > expectedDays * 10)) {
    const rhythm = expectedDays === null ? 'expected interval unknown' : `it was asked every ${interval(expectedDays)}`;
    gaps.push(medium('dormant', null, `not seen for ${Math.floor(silentDays)} days; ${rhythm}`));
  }
  return gaps;
}

function interval(days: number): string {
  if (days >= 1) return `${Math.round(days)} days`;
  return days * 24 >= 1 ? `${Math.round(days * 24)} hours` : 'hour or more often';
}
