// Reading from the control plane: what is shown, whether it is being fetched, and what went wrong, as signals. A new
// address of the page (its filters) reads anew and cancels what was on its way. Until the answer is there the older one
// stays, marked as what it is; when the newer question is refused, it goes.
import { batch, createEffect, createSignal, onCleanup, untrack, type Accessor } from 'solid-js';
import { ask, type Refused, type Reply, type Route } from './http.js';

export interface QueryState<T> {
  /** undefined: not there yet. What was there stays while it is read again. */
  readonly data: Accessor<T | undefined>;
  readonly etag: Accessor<string | null>;
  /** What is there answers what is asked now. */
  readonly isAnswered: Accessor<boolean>;
  readonly problem: Accessor<Refused | null>;
  readonly isLoading: Accessor<boolean>;
  reload(): Promise<void>;
}

type Options<R extends Route> = NonNullable<Parameters<typeof ask<R>>[1]>;

interface Behaviour {
  /** Reads again that often while the page is visible. */
  readonly everyMs?: number;
  /** The question names a moment that moves on: an older answer stays good until the next is there. */
  readonly isMoving?: boolean;
}

/** `options` null: do not ask yet. */
export function createQuery<R extends Route>(
  route: R,
  options: Accessor<Options<R> | null> = () => ({}),
  { everyMs, isMoving = false }: Behaviour = {},
): QueryState<Reply<R>> {
  const [data, setData] = createSignal<Reply<R> | undefined>(undefined, { equals: false });
  const [etag, setEtag] = createSignal<string | null>(null);
  const [problem, setProblem] = createSignal<Refused | null>(null);
  const [isLoading, setLoading] = createSignal(false);
  const [isAnswered, setAnswered] = createSignal(false);
  let current: AbortController | null = null;
  const read = async (asked: Options<R>): Promise<void> => {
    current?.abort();
    const mine = new AbortController();
    current = mine;
    setLoading(true);
    try {
      const answer = await ask(route, { ...asked, signal: mine.signal });
      if (mine.signal.aborted) return;
      batch(() => {
        setEtag(answer.etag);
        setData(() => answer.data);
        setAnswered(true);
        setProblem(null);
      });
    } catch (error) {
      if (mine.signal.aborted) return;
      batch(() => {
        if (!isAnswered()) setData(() => undefined);
        setProblem(error as Refused);
      });
    } finally {
      if (current === mine) setLoading(false);
    }
  };
  const reload = async (): Promise<void> => {
    const asked = options();
    if (asked !== null) await read(asked);
  };
  createEffect(() => {
    const asked = options();
    if (!isMoving) setAnswered(false);
    if (asked !== null) untrack(() => void read(asked));
  });
  if (everyMs !== undefined) {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && !isLoading()) void reload();
    }, everyMs);
    onCleanup(() => clearInterval(timer));
  }
  onCleanup(() => current?.abort());
  return { data, etag, isAnswered, problem, isLoading, reload };
}

/** Two answers that are shown together: what is refused of both is told once, and both are asked again. */
export const both = <A, B>(first: QueryState<A>, second: QueryState<B>): QueryState<readonly [A, B]> => ({
  data: () => {
    const [a, b] = [first.data(), second.data()];
    return a === undefined || b === undefined ? undefined : [a, b];
  },
  etag: first.etag,
  isAnswered: () => first.isAnswered() && second.isAnswered(),
  problem: () => first.problem() ?? second.problem(),
  isLoading: () => first.isLoading() || second.isLoading(),
  reload: async () => void (await Promise.all([first.reload(), second.reload()])),
});
