// What is told of an upstream that fails, by the way in which it does. Errors are data: the status follows from the
// code.
import { ProxyError } from '../contract/errors.js';
import type { UpstreamOptions } from './exchange.js';

/** What a connection may wait for, each with a time of its own. */
export type Wait = 'connect' | 'head' | 'body';

const because = (error: Error | null): ErrorOptions => (error === null ? {} : { cause: error });

export function timeoutMsOf(what: Wait, options: UpstreamOptions): number {
  switch (what) {
    case 'connect':
      return options.connectTimeoutMs;
    case 'head':
      return options.headTimeoutMs;
    case 'body':
      return options.bodyIdleTimeoutMs;
  }
}

export function timedOut(what: Wait, options: UpstreamOptions): ProxyError {
  const { host, port, connectTimeoutMs, headTimeoutMs, bodyIdleTimeoutMs } = options;
  switch (what) {
    case 'connect':
      return new ProxyError(
        'PXY_UPSTREAM_CONNECT_TIMEOUT',
        `no connection to the upstream ${host}:${port} within ${connectTimeoutMs} ms`,
      );
    case 'head':
      return new ProxyError('PXY_UPSTREAM_HEAD_TIMEOUT', `the upstream sent no response within ${headTimeoutMs} ms`);
    case 'body':
      return new ProxyError(
        'PXY_UPSTREAM_BODY_TIMEOUT',
        `the upstream's response stood still for ${bodyIdleTimeoutMs} ms`,
      );
  }
}

export function connectFailed({ host, port }: UpstreamOptions, error: Error | null): ProxyError {
  return new ProxyError(
    'PXY_UPSTREAM_CONNECT',
    `cannot connect to the upstream ${host}:${port}: ${error?.message ?? 'closed'}`,
    because(error),
  );
}

export function closedEarly({ host, port }: UpstreamOptions, error: Error | null): ProxyError {
  return new ProxyError(
    'PXY_UPSTREAM_RESET',
    `the upstream ${host}:${port} closed the connection before its response was complete`,
    because(error),
  );
}

/** More requests than may wait. */
export function tooManyWait({ connectionsMax, waitersMax }: UpstreamOptions): ProxyError {
  return new ProxyError(
    'PXY_UPSTREAM_BUSY',
    `all ${connectionsMax} connections to the upstream are busy and ${waitersMax} requests wait already`,
  );
}

export function waitedTooLong({ connectTimeoutMs }: UpstreamOptions): ProxyError {
  return new ProxyError('PXY_UPSTREAM_BUSY', `no connection to the upstream became free within ${connectTimeoutMs} ms`);
}
