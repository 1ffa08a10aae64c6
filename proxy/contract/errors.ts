// Every operating failure of the data plane, as data: what the client is told follows from the code, never from a text.
// Bugs are not here: they throw, the worker goes, main counts and restarts it.

/** Code → the status a client gets when nothing has been sent yet. */
const errorStatus = {
  PXY_UPSTREAM_CONNECT: 502,
  PXY_UPSTREAM_CONNECT_TIMEOUT: 504,
  PXY_UPSTREAM_BUSY: 503,
  PXY_UPSTREAM_HEAD_TIMEOUT: 504,
  PXY_UPSTREAM_BODY_TIMEOUT: 504,
  PXY_UPSTREAM_RESET: 502,
  PXY_UPSTREAM_MALFORMED: 502,
  PXY_NO_RULESET: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export class ProxyError extends Error {
  readonly status: number;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ProxyError';
    this.status = errorStatus[code];
  }
}
