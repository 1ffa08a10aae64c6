// What else a specification says of the security of its operations: how credentials travel, what bodies may hold, what
// answers give away, which refusals are promised. For people who read findings, not for the gates of pipelines, which
// count the rules of rules.ts alone. Pure.
import type { JsonSchema } from '#proxy/contract';
import type { ApiModel, ApiOperation } from '../../spec/document/model.js';
import { requiresCredentials, type ScanSeverity } from './rules.js';

export const moreRules = {
  'key-in-query': {
    severity: 'medium',
    owasp: 'API2:2023',
    fix: 'take the key in a header: addresses stand in logs, histories and referrers',
  },
  'basic-credentials': {
    severity: 'low',
    owasp: 'API2:2023',
    fix: 'use tokens that end: a password goes along with every request',
  },
  'weak-oauth-flow': {
    severity: 'medium',
    owasp: 'API2:2023',
    fix: 'use the authorization code flow with PKCE; RFC 9700 advises against implicit and password flows',
  },
  'secret-in-answer': { severity: 'high', owasp: 'API3:2023', fix: 'leave the member out of the answer' },
  'open-members': {
    severity: 'low',
    owasp: 'API3:2023',
    fix: 'say "additionalProperties: false", so that members that nobody declares are refused',
  },
  'unbounded-input': {
    severity: 'low',
    owasp: 'API4:2023',
    fix: 'give texts a maxLength, a pattern, a format or an enum, and lists maxItems',
  },
  'body-without-schema': { severity: 'medium', owasp: 'API8:2023', fix: 'describe the body by a schema' },
  'no-refusal': {
    severity: 'low',
    owasp: 'API8:2023',
    fix: 'declare 401 and 403, so that clients and tests know what a refusal looks like',
  },
} as const satisfies Record<string, { severity: ScanSeverity; owasp: string; fix: string }>;
export type MoreRule = keyof typeof moreRules;

export interface MoreFinding {
  readonly rule: MoreRule;
  readonly method: string;
  readonly path: string;
  readonly pointer: string;
  readonly message: string;
}

const secretName = /^(?:pass(?:word|wd|phrase)?|pwd|secret|client_?secret|private_?key|api_?key|pin)(?:_?hash)?$/i;
const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
/** Of one message: members that are looked at, and how deep. */
const membersMax = 2000;
const depthMax = 12;
/** That a message names. */
const placesMax = 5;

interface Member {
  readonly name: string;
  readonly pointer: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const mapOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** The schema itself and each member below it; references are followed once on a way. */
function* membersOf(given: JsonSchema | null, model: ApiModel): Generator<Member> {
  let left = membersMax;
  function* walk(value: unknown, name: string, pointer: string, on: readonly string[]): Generator<Member> {
    if (left-- <= 0 || on.length > depthMax) return;
    const schema = mapOf(value);
    const { $ref: reference } = schema;
    if (typeof reference === 'string') {
      if (!on.includes(reference)) yield* walk(model.definitions[reference], name, pointer, [...on, reference]);
      return;
    }
    yield { name, pointer, schema };
    for (const [key, one] of Object.entries(mapOf(schema['properties'])))
      yield* walk(one, key, `${pointer}/${key}`, [...on, '']);
    if (schema['items'] !== undefined) yield* walk(schema['items'], name, `${pointer}/*`, [...on, '']);
    for (const word of ['allOf', 'anyOf', 'oneOf'])
      for (const one of Array.isArray(schema[word]) ? (schema[word] as unknown[]) : [])
        yield* walk(one, name, pointer, [...on, '']);
  }
  yield* walk(given, '', '', []);
}

interface Look {
  /** Pointers of the first members that take others, that have no bound, and whose names are those of secrets. */
  readonly open: readonly string[];
  readonly unbounded: readonly string[];
  readonly secrets: readonly string[];
}

/** By document and reference: operations share schemas, and each is walked once. */
const looks = new WeakMap<ApiModel, Map<string, Look>>();

function lookAt(schema: JsonSchema | null, model: ApiModel): Look {
  const { $ref: reference } = mapOf(schema);
  if (typeof reference !== 'string') return walk(schema, model);
  const known = looks.get(model) ?? new Map<string, Look>();
  looks.set(model, known);
  const made = known.get(reference) ?? walk(schema, model);
  known.set(reference, made);
  return made;
}

function walk(given: JsonSchema | null, model: ApiModel): Look {
  const look = { open: [] as string[], unbounded: [] as string[], secrets: [] as string[] };
  const note = (places: string[], pointer: string): void => {
    if (places.length < placesMax) places.push(pointer);
  };
  for (const { name, pointer, schema } of membersOf(given, model)) {
    if (schema['properties'] !== undefined && schema['additionalProperties'] !== false) note(look.open, pointer);
    const isUnbounded = typeIs(schema, 'string') && !isBounded(schema);
    if (isUnbounded || (typeIs(schema, 'array') && schema['maxItems'] === undefined)) note(look.unbounded, pointer);
    if (secretName.test(name) && schema['writeOnly'] !== true) note(look.secrets, pointer);
  }
  return look;
}

const typeIs = ({ type }: Member['schema'], wanted: string): boolean =>
  type === wanted || (Array.isArray(type) && type.includes(wanted));

const isBounded = (schema: Member['schema']): boolean =>
  ['maxLength', 'pattern', 'format', 'enum', 'const'].some((word) => schema[word] !== undefined);

function schemeFindings(model: ApiModel): MoreFinding[] {
  return Object.entries(model.securitySchemes).flatMap(([name, scheme]): MoreFinding[] => {
    const at = { method: '', path: '', pointer: `/components/securitySchemes/${name}` };
    const flows = Object.keys(mapOf(scheme['flows']));
    const weak = flows.filter((flow) => flow === 'implicit' || flow === 'password');
    if (scheme['type'] === 'apiKey' && scheme['in'] === 'query')
      return [{ ...at, rule: 'key-in-query', message: `the key of the scheme ${name} stands in addresses` }];
    if (scheme['type'] === 'http' && scheme['scheme'] === 'basic')
      return [{ ...at, rule: 'basic-credentials', message: `the scheme ${name} sends a password with each request` }];
    if (scheme['type'] === 'oauth2' && weak.length > 0)
      return [{ ...at, rule: 'weak-oauth-flow', message: `the scheme ${name} offers the flow ${weak.join(', ')}` }];
    return [];
  });
}

function bodyFindings(operation: ApiOperation, model: ApiModel): MoreFinding[] {
  const { method, path, pointer, body } = operation;
  if (body === null || !writes.has(method)) return [];
  const found = new Map<MoreRule, Set<string>>();
  const note = (rule: MoreRule, what: string): void => {
    const places = found.get(rule);
    if (places === undefined) found.set(rule, new Set([what]));
    else if (places.size < placesMax) places.add(what);
  };
  for (const [type, { schema }] of Object.entries(body.content)) {
    if (schema === null || schema === true) note('body-without-schema', type);
    else {
      const { open, unbounded } = lookAt(schema, model);
      for (const where of open) note('open-members', where === '' ? 'the body' : where);
      for (const where of unbounded) note('unbounded-input', where === '' ? 'the body' : where);
    }
  }
  const said: Partial<Record<MoreRule, string>> = {
    'body-without-schema': 'no schema describes the body of',
    'open-members': 'takes undeclared members at',
    'unbounded-input': 'sets no bound to',
  };
  return [...found].map(([rule, places]) => ({
    ...{ rule, method, path, pointer: `${pointer}/requestBody` },
    message: `${said[rule]} ${[...places].join(', ')}`,
  }));
}

function answerFindings(operation: ApiOperation, model: ApiModel): MoreFinding[] {
  const { method, path, pointer, responses } = operation;
  const names = new Set<string>();
  for (const [code, content] of Object.entries(responses))
    if (code.startsWith('2'))
      for (const { schema } of Object.values(content))
        for (const pointer of lookAt(schema, model).secrets) names.add(pointer);
  const found: MoreFinding[] = [];
  if (names.size > 0) {
    const message = `answers carry ${[...names].slice(0, 5).join(', ')}`;
    found.push({ rule: 'secret-in-answer', method, path, pointer: `${pointer}/responses`, message });
  }
  const codes = Object.keys(responses);
  const hasRefusal = codes.some((code) => /^(?:401|403|4XX|default)$/i.test(code));
  if (codes.length > 0 && !hasRefusal && requiresCredentials(operation, model))
    found.push({
      ...{ rule: 'no-refusal', method, path, pointer: `${pointer}/responses` },
      message: 'it requires credentials, and declares neither 401 nor 403',
    });
  return found;
}

/** Of operations in the order of the document, behind those of the schemes of credentials. */
export const scanFurther = (model: ApiModel): MoreFinding[] => [
  ...schemeFindings(model),
  ...model.operations.flatMap((one) => [...bodyFindings(one, model), ...answerFindings(one, model)]),
];
