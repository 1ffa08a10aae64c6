// Lists that come in pages: what was read so far, and the next page when it is asked for. Another question begins anew;
// until its answer came nothing is counted, and when it is refused nothing of the older answer is left to be taken for
// it.
import { batch, createEffect, createSignal, onCleanup, untrack, type Accessor } from 'solid-js';
import { call, type Query, type Refused, type Reply, type Route } from './http.js';

type ListRoute = { [R in Route]: Reply<R> extends { items: unknown[]; next_cursor: string | null } ? R : never }[Route];
export type Row<R extends ListRoute> = Reply<R>['items'][number];

export interface PagedList<T> {
  readonly items: Accessor<readonly T[]>;
  /** What is there answers what is asked now: not before the first answer, and not while another question is asked. */
  readonly isAnswered: Accessor<boolean>;
  /** More came in front than are kept: between the rows and what could still be read some are missing. */
  readonly isCut: Accessor<boolean>;
  readonly problem: Accessor<Refused | null>;
  readonly isLoading: Accessor<boolean>;
  readonly hasMore: Accessor<boolean>;
  /** How many there are in all, where the list says so. */
  readonly total: Accessor<number | null>;
  readMore(): void;
  reload(): void;
  /** In front, newest first; at most `max` are kept. */
  prepend(rows: readonly T[], max: number): void;
}

export function createPagedList<R extends ListRoute>(
  route: R,
  query: Accessor<Omit<Query<R>, 'cursor' | 'limit'>>,
  limit = 100,
): PagedList<Row<R>> {
  const [items, setItems] = createSignal<readonly Row<R>[]>([]);
  const [problem, setProblem] = createSignal<Refused | null>(null);
  const [isLoading, setLoading] = createSignal(false);
  const [cursor, setCursor] = createSignal<string | null>(null);
  const [total, setTotal] = createSignal<number | null>(null);
  const [isAnswered, setAnswered] = createSignal(false);
  const [isCut, setCut] = createSignal(false);
  let current: AbortController | null = null;
  const read = async (isFirst: boolean): Promise<void> => {
    current?.abort();
    const mine = new AbortController();
    current = mine;
    setLoading(true);
    try {
      const after = isFirst ? null : cursor();
      const asked = { ...query(), limit, ...(after === null ? {} : { cursor: after }) } as Query<R>;
      const reply = (await call(route, { query: asked, signal: mine.signal })) as {
        readonly items: Row<R>[];
        readonly next_cursor: string | null;
        readonly total?: number;
      };
      if (mine.signal.aborted) return;
      batch(() => {
        setItems((before) => (isFirst ? reply.items : [...before, ...reply.items]));
        setCursor(reply.next_cursor);
        setTotal(reply.total ?? null);
        if (isFirst) setCut(false);
        setAnswered(true);
        setProblem(null);
      });
    } catch (error) {
      if (mine.signal.aborted) return;
      batch(() => {
        if (!isAnswered()) setItems([]);
        setProblem(error as Refused);
      });
    } finally {
      if (current === mine) setLoading(false);
    }
  };
  createEffect(() => {
    query();
    setAnswered(false);
    untrack(() => void read(true));
  });
  onCleanup(() => current?.abort());
  return {
    items,
    isAnswered,
    isCut,
    problem,
    isLoading,
    hasMore: () => cursor() !== null && !isCut(),
    total,
    readMore: () => {
      if (cursor() !== null && !isCut() && !isLoading()) void read(false);
    },
    reload: () => void read(true),
    prepend: (rows, max) => {
      const all = [...rows, ...items()];
      setCut((before) => before || all.length > max);
      setItems(all.slice(0, max));
    },
  };
}
