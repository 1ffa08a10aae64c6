// What a specification alone says of the security of its operations: no traffic, no database. Pure. `missing-auth` is
// told only where no stricter rule says the same of the operation.
import { isLoginPath, isPrivilegedPath, type JsonSchema } from '#proxy/contract';
import { credentialsPath, sensitiveWordOf } from '../../inventory/judge.js';
import type { ApiModel, ApiOperation } from '../../spec/document/model.js';
import { sensitiveMemberOf } from './sensitive-members.js';

export const scanSeverities = ['high', 'medium', 'low'] as const;
export type ScanSeverity = (typeof scanSeverities)[number];

export const scanRules = {
  'sensitive-no-auth': {
    severity: 'high',
    owasp: 'API2:2023',
    text: 'An operation with sensitive data or a sensitive path requires no credentials',
    fix: 'add "security" to the operation or to the document',
  },
  'unprotected-write': {
    severity: 'high',
    owasp: 'API5:2023',
    text: 'An operation that changes something requires no credentials',
    fix: 'add "security" to the operation or to the document',
  },
  'bola-risk': {
    severity: 'high',
    owasp: 'API1:2023',
    text: 'An operation takes the id of an object, and requires no credentials by which its owner could be known',
    fix: 'add "security", and check that the caller may have the object',
  },
  'missing-auth': {
    severity: 'medium',
    owasp: 'API2:2023',
    text: 'An operation requires no credentials',
    fix: 'add "security"; for what is meant to be public keep it out of this specification',
  },
  'bola-review': {
    severity: 'low',
    owasp: 'API1:2023',
    text: 'An operation takes the id of an object: whether the caller may have it is decided by the application alone',
    fix: 'review that the application compares the owner of the object with the caller',
  },
} as const satisfies Record<string, { severity: ScanSeverity; owasp: string; text: string; fix: string }>;
export type ScanRule = keyof typeof scanRules;

export interface ScanFinding {
  readonly rule: ScanRule;
  readonly severity: ScanSeverity;
  readonly method: string;
  readonly path: string;
  /** Where the operation stands in the document (RFC 6901). */
  readonly pointer: string;
  readonly message: string;
}

const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Whether each alternative of requirements names a scheme (OpenAPI 3.1 section 4.8.30): `[]`, none at all and the empty
 * alternative leave the door open, and so does a scheme that the document does not define.
 */
export function requiresCredentials({ security }: ApiOperation, { securitySchemes }: ApiModel): boolean {
  if (security === null || security.length === 0) return false;
  return security.every((names) => names.some((name) => securitySchemes[name] !== undefined));
}

/** Operations that hand out credentials, or say that a service is there, are open by nature. */
export const isOpenByNature = ({ method, path }: Pick<ApiOperation, 'method' | 'path'>): boolean =>
  (method === 'POST' && (isLoginPath(method, path) || credentialsPath.test(path))) ||
  ((method === 'GET' || method === 'HEAD') && statusPath.test(path));

const statusPath = /\/(health|healthz|livez|readyz|ready|live|ping|version|\.well-known\/[^{}]*)$/i;

const idName = /^(id|uuid|guid|key|slug|number|no|code|ref|reference)$|(_|-)?(id|uuid|guid)$|(Id|Uuid|Guid|Number)$/;

/** The last parameter of the path that names an object: one behind a collection (`/orders/{id}`), or called an id. */
export function objectParameterOf({ path, parameters }: ApiOperation): string | null {
  const segments = path.split('/');
  for (let at = segments.length - 1; at > 0; at -= 1) {
    const name = /^\{([^{}]+)\}$/.exec(segments[at] ?? '')?.[1];
    if (name === undefined) continue;
    const declared = parameters.find((one) => one.in === 'path' && one.name === name);
    if (isChoice(declared?.schema)) continue;
    if (idName.test(name) || /^[A-Za-z][\w-]*s$/.test(segments[at - 1] ?? '')) return name;
  }
  const query = parameters.find((one) => one.in === 'query' && idName.test(one.name) && !isChoice(one.schema));
  return query?.name ?? null;
}

/** A list of choices names no object of anybody. */
const isChoice = (schema: JsonSchema | undefined): boolean =>
  typeof schema === 'object' && (Array.isArray(schema['enum']) || schema['const'] !== undefined);

/** What is wrong with one operation, the gravest first. */
export function scanOperation(operation: ApiOperation, model: ApiModel): ScanFinding[] {
  const { method, path, pointer } = operation;
  const found: ScanFinding[] = [];
  const add = (rule: ScanRule, message: string): void =>
    void found.push({ rule, severity: scanRules[rule].severity, method, path, pointer, message });
  const object = objectParameterOf(operation);
  if (requiresCredentials(operation, model)) {
    if (object !== null) add('bola-review', `{${object}} chooses an object: review that only its owner gets it`);
    return found;
  }
  const how = explain(operation);
  if (isOpenByNature(operation)) {
    if (operation.security === null) add('missing-auth', `${how}; say "security: []" where that is meant`);
    return found;
  }
  const word = sensitiveWordOf(path) ?? (isPrivilegedPath(path) ? 'administration' : null);
  const member = sensitiveMemberOf(operation, model);
  if (word !== null) add('sensitive-no-auth', `the path speaks of ${word}, and ${how}`);
  else if (member !== null) add('sensitive-no-auth', `it carries ${member}, and ${how}`);
  if (writes.has(method)) add('unprotected-write', `${method} changes something, and ${how}`);
  if (object !== null) add('bola-risk', `{${object}} chooses an object, and ${how}`);
  if (found.length === 0) add('missing-auth', how);
  return found;
}

function explain({ security }: ApiOperation): string {
  if (security === null) return 'nothing declares credentials';
  if (security.length === 0) return 'credentials are explicitly not required';
  if (security.some((names) => names.length === 0)) return 'credentials are optional';
  return 'the required scheme is not defined by the document';
}

/** In the order of the document. */
export const scanModel = (model: ApiModel): ScanFinding[] =>
  model.operations.flatMap((operation) => scanOperation(operation, model));

const weights: Readonly<Record<ScanSeverity, number>> = { high: 1, medium: 0.5, low: 0.05 };

/** 100: no finding; each operation costs its share by the gravest of its findings, so that 0 is "all of them high". */
export function postureScore(operations: number, findings: readonly ScanFinding[]): number {
  const worst = new Map<string, number>();
  for (const { method, path, severity } of findings) {
    const key = `${method} ${path}`;
    worst.set(key, Math.max(worst.get(key) ?? 0, weights[severity]));
  }
  const lost = [...worst.values()].reduce((sum, one) => sum + one, 0);
  return operations === 0 ? 100 : Math.round(100 * (1 - lost / operations));
}
