import { messageOf } from '../contract/errors.js';
import type { Listener, ListenerKind, ListenerOptions } from './listener.js';
import { listenNet } from './net/index.js';
import { canSharePort as canNodeSharePort, listenNode } from './node/index.js';
import { listenUws } from './uws/index.js';
import { loadUws } from './uws/library.js';

export type { Exchange, Listener, ListenerKind, ListenerOptions } from './listener.js';
export { createConnectionShares, forgetShare, shareOf } from './connection-share.js';

/** `auto`: our own, which needs nothing but Node.js. */
export function chooseListener(wanted: ListenerKind | 'auto'): { readonly kind: ListenerKind; readonly why: string } {
  return wanted === 'auto' ? { kind: 'net', why: 'auto' } : { kind: wanted, why: 'asked for' };
}

/** Null where this listener can run; else the reason. */
export function whyUnavailable(kind: ListenerKind): string | null {
  if (kind !== 'uws') return null;
  try {
    loadUws();
    return null;
  } catch (error) {
    return messageOf(error).split('\n')[0] ?? 'it does not load';
  }
}

/** Whether several threads can listen on one port with it. */
export function canSharePort(kind: ListenerKind): boolean {
  switch (kind) {
    case 'net':
      return process.platform === 'linux'; // the engine's addon opens the socket where Node.js cannot
    case 'uws':
      return true;
    case 'node':
      return canNodeSharePort();
  }
}

export function listen(kind: ListenerKind, options: ListenerOptions): Promise<Listener> {
  switch (kind) {
    case 'net':
      return listenNet(options);
    case 'uws':
      return listenUws(options);
    case 'node':
      return listenNode(options);
  }
}
