import { messageOf } from '../contract/errors.js';
import type { Listener, ListenerKind, ListenerOptions } from './listener.js';
import { listenNode } from './node/index.js';
import { listenUws } from './uws/index.js';
import { loadUws } from './uws/library.js';

export type { Exchange, Listener, ListenerKind, ListenerOptions } from './listener.js';
export { canSharePort } from './node/index.js';

/** `auto`: uWebSockets.js where it has a binary for this platform and Node version, node:http elsewhere. */
export function chooseListener(wanted: ListenerKind | 'auto'): { readonly kind: ListenerKind; readonly why: string } {
  if (wanted !== 'auto') return { kind: wanted, why: 'asked for' };
  try {
    loadUws();
    return { kind: 'uws', why: 'auto: uWebSockets.js loads here' };
  } catch (error) {
    return {
      kind: 'node',
      why: `auto: uWebSockets.js does not load here (${messageOf(error).split('\n')[0]})`,
    };
  }
}

export function listen(kind: ListenerKind, options: ListenerOptions): Promise<Listener> {
  switch (kind) {
    case 'uws':
      return listenUws(options);
    case 'node':
      return listenNode(options);
  }
}
