// One suite for both listeners, with raw sockets: what a client may send, what must be refused, and that the answer is
// framed right. Differences are those of differences.ts, neither more nor fewer.
import t from 'tap';
import { defaultLimits, defaultTimeouts } from '../../contract/index.js';
import { differences } from '../differences.js';
import { listen, type Listener, type ListenerKind } from '../index.js';
import { testConnections } from './connections.contract.js';
import { echo, onUnreadable, type Suite, type Unanswered } from './echo.contract.js';
import { testRequests } from './requests.contract.js';
import { testResponses } from './responses.contract.js';

export function runListenerContract(kind: ListenerKind): void {
  const unanswered: Unanswered = { taken: 0, aborted: 0 };
  const seen: string[] = [];
  let listener: Listener;
  const own = new Map(
    differences
      .filter((difference) => difference.listener === kind)
      .map((difference) => [difference.case, difference.outcome]),
  );

  t.before(async () => {
    listener = await listen(kind, {
      host: '127.0.0.1',
      port: 0,
      sharedPort: false,
      limits: () => ({ ...defaultLimits, headerFieldsMax: 100 }),
      timeouts: defaultTimeouts,
      handler: { onRequest: (exchange) => echo(exchange, unanswered, seen), onUnreadable },
    });
  });
  t.teardown(() => listener.stop(100));

  const suite: Suite = { kind, port: () => listener.port, own, unanswered, seen };
  testRequests(suite);
  testResponses(suite);
  testConnections(suite);
}
