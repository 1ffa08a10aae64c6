// Connections of trusted proxies may begin with a PROXY header, which not every listener reads. One that does not would
// answer 400 to all that comes through them, or take their header for the beginning of a request.
import type { Problem, ProxyConfig } from '../../contract/index.js';
import type { ListenerKind } from '../../listeners/index.js';

/** What the plain port of this node cannot read of `config`; empty where it can. */
export function findUnreadHeaders(
  { proxyProtocol }: Pick<ProxyConfig, 'proxyProtocol'>,
  listener: ListenerKind,
): Problem[] {
  if (!proxyProtocol || listener === 'net') return [];
  return [
    {
      path: '/config/proxyProtocol',
      message:
        'asks trusted proxies for a PROXY header (proxy_protocol), which ' +
        `DATA_LISTENER=${listener} cannot read on the plain port`,
      fix: 'start this node with DATA_LISTENER=auto, or turn proxy_protocol off',
    },
  ];
}

/** Throws, with what, where and how to fix it, when the node would begin with what it cannot read. */
export function requireReadHeaders(config: ProxyConfig, listener: ListenerKind): void {
  for (const { path, message, fix } of findUnreadHeaders(config, listener))
    throw new Error(`cannot start: ${path} ${message}; ${fix}`);
}
