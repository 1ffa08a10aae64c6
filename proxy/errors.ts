// Every operating failure of the data plane, as data: decisions switch on `source` and `status`, never on text.
// Bugs are not here: they throw, the worker goes, main counts and restarts it.

export type ErrorSource = 'client' | 'upstream' | 'internal';

interface ErrorKind {
  readonly source: ErrorSource;
  /** What the client is told when nothing has been sent yet. */
  readonly status: number;
  /** The request never reached an application: safe to send again on another connection. */
  readonly nothingSent: boolean;
}

const errorKinds = {
  PXY_UPSTREAM_CONNECT: { source: 'upstream', status: 502, nothingSent: true },
  PXY_UPSTREAM_CONNECT_TIMEOUT: { source: 'upstream', status: 504, nothingSent: true },
  PXY_UPSTREAM_BUSY: { source: 'upstream', status: 503, nothingSent: true },
  PXY_UPSTREAM_HEAD_TIMEOUT: { source: 'upstream', status: 504, nothingSent: false },
  PXY_UPSTREAM_BODY_TIMEOUT: { source: 'upstream', status: 504, nothingSent: false },
  PXY_UPSTREAM_RESET: { source: 'upstream', status: 502, nothingSent: false },
  PXY_UPSTREAM_MALFORMED: { source: 'upstream', status: 502, nothingSent: false },
  PXY_CLIENT_ABORTED: { source: 'client', status: 499, nothingSent: false },
  PXY_CLIENT_BODY_TIMEOUT: { source: 'client', status: 408, nothingSent: false },
  PXY_ENGINE_FAILED: { source: 'internal', status: 503, nothingSent: false },
  PXY_NO_RULESET: { source: 'internal', status: 503, nothingSent: false },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

export class ProxyError extends Error {
  readonly code: ErrorCode;
  readonly source: ErrorSource;
  readonly status: number;
  readonly nothingSent: boolean;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProxyError';
    const kind = errorKinds[code];
    this.code = code;
    this.source = kind.source;
    this.status = kind.status;
    this.nothingSent = kind.nothingSent;
  }
}
