// Refusals as data: the error that routes throw, and the problem document (RFC 9457) that it becomes.
import { Type, type Static } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { errorTable, type ErrorCode } from './error-table.js';
export type { ErrorCode } from './error-table.js';

const ProblemFieldSchema = Type.Object({
  path: Type.String({ description: 'JSON pointer to the offending value; empty for the whole document' }),
  reason: Type.String(),
  fix: Type.Optional(Type.String({ description: 'how to fix it, where the reason does not say so' })),
});
export type ProblemField = Static<typeof ProblemFieldSchema>;

export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String(),
    code: Type.String(),
    errors: Type.Optional(Type.Array(ProblemFieldSchema)),
  },
  { $id: 'Problem', additionalProperties: true, description: 'RFC 9457 problem document' },
);
export type Problem = Static<typeof ProblemSchema>;

export interface ErrorExtras {
  /** One entry per offending field: where (JSON path such as `/sites/0/prefix`) and why. */
  readonly errors?: readonly ProblemField[];
  /** Response headers that belong to the refusal (Retry-After, ETag, WWW-Authenticate). */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the problem document. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * A refusal that is part of the contract with the caller. Anything else that is thrown is a bug and becomes a bare 500.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly extras: ErrorExtras;
  constructor(code: ErrorCode, detail: string, extras: ErrorExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = errorTable[code].status;
    this.extras = extras;
  }
}

/** Whoever shows `fix` where it is there would show an empty line: where the reason says it, it is left out. */
const withoutEmptyFix = ({ fix, ...rest }: ProblemField): ProblemField =>
  fix === undefined || fix === '' ? rest : { ...rest, fix };

/** RFC 9457 document. `detail` is always there: the vulnerability-management API promises `{ "detail": string }`. */
export function toProblem(error: ApiError, instance: string): Problem {
  return {
    type: `urn:gatehouse:problem:${error.code}`,
    title: errorTable[error.code].title,
    status: error.status,
    detail: error.message,
    instance,
    code: error.code,
    ...(error.extras.errors === undefined ? {} : { errors: error.extras.errors.map(withoutEmptyFix) }),
    ...error.extras.extensions,
  };
}

const navigated = /^\/api(?:\/v1)?\/sso\/(?:login|callback)(?:[/?]|$)/;

/** Whether a browser shows the answer as a page: it leaves the console for single sign-on. */
export const wantsPage = ({ method, url, headers: { accept } }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && navigated.test(url) && accept?.includes('text/html') === true;
