// What the connections of a listener share.
import type { ListenerOptions } from '../listener.js';
import type { Connection } from './connection.js';
import type { ExchangeHome } from './exchange.js';
import type { TimeLimits } from './time-limits.js';

export interface ConnectionHome extends ExchangeHome {
  readonly options: ListenerOptions;
  readonly limits: TimeLimits<Connection>;
  forget(connection: Connection): void;
}
