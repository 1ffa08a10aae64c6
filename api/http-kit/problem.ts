// The one table of error codes of the control plane. A code is a promise to scripts: it is never renamed and never
// changes its status. `http/http.test.ts` counts the table, so adding a code is a visible act.
import type { ErrorCode, Problem, ProblemField } from './error-table.js';
export type { ErrorCode, Problem, ProblemField } from './error-table.js';
import { errorTable } from './error-table.js';

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

/**
 * RFC 9457 document; `detail` is always present because the vulnerability-management API promises `{ "detail": string
 * }`.
 */
export function toProblem(error: ApiError, instance: string): Problem {
  return {
    type: `urn:gatehouse:problem:${error.code}`,
    title: errorTable[error.code].title,
    status: error.status,
    detail: error.message,
    instance,
    code: error.code,
    ...(error.extras.errors === undefined ? {} : { errors: [...error.extras.errors] }),
    ...error.extras.extensions,
  };
}
