// What the connections of a listener share.
import type { ListenerOptions } from '../listener.js';
import type { Connection } from './connection.js';
import type { ExchangeHome } from './exchange.js';
import type { FieldMemory } from './field-memory.js';
import type { TimeLimits } from './time-limits.js';

export interface ConnectionHome extends ExchangeHome {
  readonly options: ListenerOptions;
  readonly limits: TimeLimits<Connection>;
  readonly fields: FieldMemory;
  forget(connection: Connection): void;
}
