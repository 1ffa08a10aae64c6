// Every operating failure of the data plane, as data: what the client is told follows from the code, never from a text.
// Bugs are not here: they throw, the worker goes, main counts and restarts it.

/** Code → the status a client gets when nothing has been sent yet. */
const errorStatus = {
  PXY_UPSTREAM_CONNECT: 502, // no connection could be made
  PXY_UPSTREAM_CONNECT_TIMEOUT: 504, // none within `upstream_connect_ms`
  PXY_UPSTREAM_BUSY: 503, // all connections are in use, and as many requests wait as may
  PXY_UPSTREAM_HEAD_TIMEOUT: 504, // no response head within `upstream_head_ms`
  PXY_UPSTREAM_BODY_TIMEOUT: 504, // a body stood still, in either direction
  PXY_UPSTREAM_RESET: 502, // closed before the response was complete
  PXY_UPSTREAM_MALFORMED: 502, // a response that two parsers could read in two ways
  PXY_NO_RULESET: 503, // the site is protected and nothing is there to inspect it by
} as const;

/** What somebody threw, in words. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What somebody threw, as an error. */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

export type ErrorCode = keyof typeof errorStatus;

export const errorCodes = Object.keys(errorStatus) as readonly ErrorCode[];

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
