// The embedded database has one connection. A statement that is sent beside an open transaction by that transaction's
// own code, and is waited for there, waits for the connection that its waiter holds: nothing would ever be answered
// again. Such a statement is refused, so that the transaction ends with an error that says which code it is. Work that
// the code of a transaction starts and does not wait for may come by in the meantime, hence the patience.
import { AsyncLocalStorage } from 'node:async_hooks';
import type postgres from 'postgres';

/** A transaction ends within milliseconds. */
const patienceMsDefault = 5000;

type Sql = postgres.Sql<{ bigint: number }>;

interface Scope {
  isOpen: boolean;
}

/** What postgres.js makes of a statement: it is sent when somebody waits for it. */
type Statement = postgres.PendingQuery<postgres.Row[]> & { handle(): unknown; reject(error: Error): void };

const isStatement = (value: unknown): value is Statement =>
  value instanceof Promise && 'handle' in value && typeof value.handle === 'function';

function wouldWait(): Error {
  return new Error(
    'A statement was sent on the pool by code of an open transaction, which waits for it: with one connection, for ' +
      'ever. Use the handle of the transaction, or read it before the transaction begins.',
  );
}

/**
 * `sql` of a pool with one connection, with what would wait for ever refused after `patienceMs`; 0: at once, which
 * tests want, since there the statement may be of a path that waits for nothing today.
 */
export function refuseOwnWaits(sql: Sql, patienceMs: number = patienceMsDefault): Sql {
  const scopes = new AsyncLocalStorage<Scope>();
  const isInside = (): boolean => scopes.getStore()?.isOpen === true;

  const watched = (made: unknown): unknown => {
    if (!isStatement(made)) return made;
    const handle = made.handle.bind(made);
    let isHandled = false;
    made.handle = () => {
      if (isHandled || !isInside()) return handle();
      isHandled = true;
      if (patienceMs === 0) return made.reject(wouldWait());
      const scope = scopes.getStore();
      const alarm = setTimeout(() => {
        if (scope?.isOpen !== true) return;
        made.reject(wouldWait());
        made.cancel(); // it is not sent when the connection is free
      }, patienceMs);
      const stop = (): void => clearTimeout(alarm);
      const sent = handle();
      void Promise.prototype.then.call(made, stop, stop);
      return sent;
    };
    return made;
  };

  const begin = (...given: unknown[]): Promise<unknown> => {
    if (isInside()) return Promise.reject(wouldWait());
    const work = given.at(-1) as (tx: unknown) => unknown;
    const scope: Scope = { isOpen: true };
    const inScope = (tx: unknown): unknown => scopes.run(scope, () => work(tx));
    const run = sql.begin as (...args: unknown[]) => Promise<unknown>;
    return run(...given.slice(0, -1), inScope).finally(() => (scope.isOpen = false));
  };

  return new Proxy(sql, {
    apply: (target, self, given: unknown[]) => watched(Reflect.apply(target, self, given)),
    get(target, name, receiver) {
      if (name === 'begin') return begin;
      if (name === 'unsafe') return (...given: Parameters<Sql['unsafe']>) => watched(target.unsafe(...given));
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
}
