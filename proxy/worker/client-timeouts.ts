// Waiting times of a listener as the generation that serves has them: a change counts from the next wait on, also on
// connections that are open.
import type { Timeouts } from '../contract/index.js';
import type { ClientTimeouts } from '../listeners/listener.js';

export function clientTimeouts(current: () => Timeouts): ClientTimeouts {
  return {
    get clientHeadMs() {
      return current().clientHeadMs;
    },
    get clientBodyIdleMs() {
      return current().clientBodyIdleMs;
    },
    get clientIdleMs() {
      return current().clientIdleMs;
    },
    get clientWriteMs() {
      return current().clientWriteMs ?? current().clientIdleMs;
    },
  };
}
