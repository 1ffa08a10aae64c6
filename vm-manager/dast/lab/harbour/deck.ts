// What a place of the second lab is given.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Store } from './store.js';

export interface Berth {
  readonly request: IncomingMessage;
  readonly reply: ServerResponse;
  readonly url: URL;
  readonly store: Store;
  /** Query and form together. */
  readonly value: (name: string) => string;
  /** The body, where it is an object of JSON. */
  readonly sent: Readonly<Record<string, unknown>>;
  readonly wall: string[];
  readonly uploads: Map<string, { readonly type: string; readonly text: string }>;
  /** What must never be done by a scan. */
  readonly harm: string[];
}

export type Deck = Readonly<Record<string, (berth: Berth, body: string) => unknown>>;
