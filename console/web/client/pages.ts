// Lists that come in pages: what was read so far, and the next page when it is asked for. Another question begins anew;
// until its answer came nothing is counted, and when it is refused nothing of the older answer is left to be taken for
// it.
import { batch, createEffect, createSignal, onCleanup, untrack, type Accessor } from 'solid-js';
import { call, type Body, type Params, type Query, type Refused, type Reply, type Route } from './http.js';

type ListRoute = { [R in Route]: Reply<R> extends { items: unknown[]; next_cursor: string | null } ? R : never }[Route];
export type Row<R extends ListRoute> = Reply<R>['items'][number];
/** What a list is asked: parameters of the address, or the body where a list is asked by POST. */
type Question<R extends ListRoute> = Omit<
  R extends `POST ${string}` ? NonNullable<Body<R>> : Query<R>,
  'cursor' | 'limit'
>;

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

interface Page<T> {
  readonly items: T[];
  readonly next_cursor: string | null;
  readonly total?: number;
}

async function readPage<R extends ListRoute>(
  route: R,
  asked: object,
  signal: AbortSignal,
  params: unknown,
): Promise<Page<Row<R>>> {
  const options = { [route.startsWith('POST') ? 'body' : 'query']: asked, signal, params };
  return (await call(route, options as Parameters<typeof call<R>>[1])) as Page<Row<R>>;
}

/** `question` null: do not ask yet. */
export function createPagedList<R extends ListRoute>(
  route: R,
  question: Accessor<Question<R> | null>,
  limit = 100,
  /** Of the address, for a list of something. */
  params?: Params<R>,
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
    const given = question();
    current?.abort();
    if (given === null) return;
    const mine = new AbortController();
    current = mine;
    setLoading(true);
    try {
      const after = isFirst ? null : cursor();
      const asked = { ...given, limit, ...(after === null ? {} : { cursor: after }) };
      const reply = await readPage(route, asked, mine.signal, params);
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
    question();
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
