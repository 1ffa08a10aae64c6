// The one table of the console: head, order, the states of what is read, keys, and rows drawn only where they are seen.
// Tab reaches one row, the arrow keys (or j and k) walk, Enter opens where there is something to open.
// Pattern: WAI-ARIA APG, grid with row focus.
import { createEffect, createMemo, createSignal, For, Match, onMount, Show, Switch, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import { kitText as text } from '../../texts/kit.js';
import { Button, Empty, Loading } from '../basics.js';
import { told } from '../foreign.js';
import { Unread } from '../page-state.js';
import { sortRows, type SortKey, type SortState } from './table-order.js';
import { allDrawnMax, createDrawn, type Drawn } from './table-window.js';

export interface TableColumn<T> {
  readonly title: string;
  /** A column of buttons has a title for those who hear the page only. */
  readonly isTitleHidden?: boolean;
  readonly isNumber?: boolean;
  readonly class?: string;
  /** On a telephone a dense table goes without it. */
  readonly isMinor?: boolean;
  /** CSS width. A table with widths is laid out by them, whatever its rows hold. */
  readonly width?: string;
  /** What rows are put in order by; without it the column has no order. */
  readonly sortBy?: (row: T) => SortKey;
  /** Instead of the title, which only those hear then who cannot see. */
  readonly head?: () => JSX.Element;
  cell(row: T): JSX.Element;
}

/** What a table shows, as `createPagedList` and `createQuery` offer it. */
export interface TableSource<T> {
  /** undefined: not there yet. */
  readonly rows: readonly T[] | undefined;
  readonly problem?: { readonly message: string } | null;
  readonly retry?: () => void;
  readonly isLoading?: boolean;
  readonly hasMore?: boolean;
  /** false: the rows belong to an older question. */
  readonly isAnswered?: boolean;
  /** The oldest rows were let go. */
  readonly isCut?: boolean;
  /** Of a list in pages, how many there are in all; null: it does not say. Absent: nothing is counted. */
  readonly total?: number | null | undefined;
  readonly readMore?: () => void;
}

export interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly TableColumn<T>[];
  readonly of: TableSource<T>;
  readonly keyOf: (row: T) => string;
  readonly empty: string;
  readonly emptyAbout?: JSX.Element;
  /** Opens a row: by a click or by Enter. */
  readonly onOpen?: (row: T) => void;
  readonly chosen?: string | null;
  /** What is shown below a row, over its whole width. */
  readonly below?: (row: T) => JSX.Element;
  /** Rows are one line high each; what is longer is cut. Long lists that change all the time are. */
  readonly isDense?: boolean;
  /** Rows come by themselves: their number is not read out at each of them. */
  readonly isLive?: boolean;
}

const partHeight = 'max(24rem, calc(100vh - 17rem))';
const steps: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 15, PageUp: -15 };

const classOf = ({ isNumber, isMinor }: TableColumn<never>): string =>
  `${isNumber === true ? 'num' : ''} ${isMinor === true ? 'is-minor' : ''}`.trim();

function Head<T>(props: {
  readonly columns: readonly TableColumn<T>[];
  readonly sort: SortState | null;
  readonly onSort: (index: number) => void;
}): JSX.Element {
  const order = (index: number): 'ascending' | 'descending' | undefined =>
    props.sort?.column !== index ? undefined : props.sort.isDown ? 'descending' : 'ascending';
  return (
    <thead>
      <tr>
        <For each={props.columns}>
          {(column, index) => (
            <th scope="col" class={classOf(column)} aria-sort={order(index())}>
              <Show
                when={column.sortBy}
                fallback={
                  column.head?.() ?? (
                    <span class={column.isTitleHidden === true ? 'visually-hidden' : ''}>{column.title}</span>
                  )
                }
              >
                <button type="button" class="sort" onClick={() => props.onSort(index())}>
                  {column.title}
                  <span class="sort-mark" aria-hidden="true">
                    {{ ascending: '▲', descending: '▼', none: '' }[order(index()) ?? 'none']}
                  </span>
                </button>
              </Show>
            </th>
          )}
        </For>
      </tr>
    </thead>
  );
}

interface RowProps<T> {
  readonly table: TableProps<T>;
  readonly row: T;
  readonly index: number;
  readonly isEntry: boolean;
  readonly onKey: (event: KeyboardEvent, index: number) => void;
  readonly onFocus: (index: number) => void;
}

const controls = 'a, button, input, select, textarea, label, summary';

function TableRow<T>(props: RowProps<T>): JSX.Element {
  const isChosen = (): boolean => props.table.chosen != null && props.table.keyOf(props.row) === props.table.chosen;
  const open = (event: Event): void => {
    if ((event.target as Element).closest(controls) === null) props.table.onOpen?.(props.row);
  };
  return (
    <tr
      aria-rowindex={props.index + 2}
      class={`table-row ${props.table.onOpen === undefined ? '' : 'is-link'}`}
      aria-selected={props.table.onOpen === undefined ? undefined : isChosen()}
      tabindex={props.isEntry ? 0 : -1}
      onFocus={() => props.onFocus(props.index)}
      onClick={open}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget) return;
        if (event.key !== 'Enter') return props.onKey(event, props.index);
        event.preventDefault(); // the same key would press the first button of the dialog that it opens
        props.table.onOpen?.(props.row);
      }}
    >
      <For each={props.table.columns}>
        {(column) => <td class={`${column.class ?? ''} ${classOf(column)}`}>{told(column.cell(props.row))}</td>}
      </For>
    </tr>
  );
}

/** In the first column alone: one that spans all would bring back those that a narrow window leaves out, empty. */
function Spacer(props: { readonly height: number }): JSX.Element {
  return (
    <Show when={props.height > 0}>
      <tbody aria-hidden="true">
        <tr>
          <td class="spacer" style={{ height: `${props.height}px` }} />
        </tr>
      </tbody>
    </Show>
  );
}

interface DrawnRowsProps<T> {
  readonly table: TableProps<T>;
  readonly rows: readonly T[];
  readonly drawn: Drawn;
  readonly scroll: HTMLElement | null;
}

/** A row and what is below it are one body of the table, so that they are measured as one. */
function DrawnRows<T>(props: DrawnRowsProps<T>): JSX.Element {
  const [at, setAt] = createSignal(0);
  const entry = createMemo(() => {
    const indexes = props.drawn.indexes();
    return indexes.includes(at()) ? at() : (indexes[0] ?? 0);
  });
  const walk = (event: KeyboardEvent, index: number): void => {
    const last = props.rows.length - 1;
    const by = steps[event.key];
    const to = { Home: 0, End: last }[event.key] ?? (by === undefined ? undefined : index + by);
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Math.min(last, Math.max(0, to));
    setAt(next);
    props.drawn.scrollTo(next);
    requestAnimationFrame(() => props.scroll?.querySelector<HTMLElement>(`[data-index="${next}"] > tr`)?.focus());
  };
  return (
    <For each={props.drawn.indexes()}>
      {(index) => (
        <Show when={props.rows[index]}>
          {(row) => (
            <tbody data-index={index} ref={props.drawn.measure}>
              <TableRow
                table={props.table}
                row={row()}
                index={index}
                isEntry={entry() === index}
                onKey={walk}
                onFocus={setAt}
              />
              <Show when={props.table.below?.(row())}>
                {(more) => (
                  <tr>
                    <td colspan={props.table.columns.length}>{more()}</td>
                  </tr>
                )}
              </Show>
            </tbody>
          )}
        </Show>
      )}
    </For>
  );
}

const turned = (old: SortState | null, column: number): SortState | null => {
  if (old?.column !== column) return { column, isDown: false };
  return old.isDown ? null : { column, isDown: true };
};

function Rows<T>(props: { readonly table: TableProps<T>; readonly rows: readonly T[] }): JSX.Element {
  let element: HTMLDivElement | undefined;
  const [scroll, setScroll] = createSignal<HTMLElement | null>(null);
  onMount(() => setScroll(element ?? null)); // before that it belongs to no window whose changes could be watched
  const [sort, setSort] = createSignal<SortState | null>(null);
  const rows = createMemo(() => sortRows(props.rows, props.table.columns, sort()));
  const drawn = createDrawn(() => rows().length, props.table.isDense === true, scroll);
  // a list that is drawn whole scrolls with its page: two bars beside each other are one too many
  const height = (): string | undefined => (drawn.isPart() ? partHeight : undefined);
  createEffect(() => {
    const last = drawn.indexes().at(-1);
    if (drawn.isPart() && last !== undefined && last >= rows().length - 5) props.table.of.readMore?.();
  });
  return (
    <div
      class="table-scroll"
      classList={{ 'is-old': props.table.of.isAnswered === false }}
      aria-busy={props.table.of.isAnswered === false}
      ref={element}
      style={{ 'max-height': height() }}
    >
      <table
        class={`table ${props.table.isDense === true ? 'dense' : ''}`}
        role={props.table.onOpen === undefined ? undefined : 'grid'}
        aria-label={props.table.label}
        aria-rowcount={rows().length + 1}
      >
        <Show when={props.table.columns.some((column) => column.width !== undefined)}>
          <colgroup>
            <For each={props.table.columns}>
              {(column) => <col class={classOf(column)} style={{ width: column.width }} />}
            </For>
          </colgroup>
        </Show>
        <Head columns={props.table.columns} sort={sort()} onSort={(column) => setSort((old) => turned(old, column))} />
        <Spacer height={drawn.above()} />
        <DrawnRows table={props.table} rows={rows()} drawn={drawn} scroll={scroll()} />
        <Spacer height={drawn.below()} />
      </table>
    </div>
  );
}

/** How many are listed, of how many. Only what answers the question of the page is counted. */
function counted({ rows = [], total, isCut, hasMore }: TableSource<unknown>): string {
  const listed = showCount(rows.length);
  if (isCut === true) return text.newestShown(listed);
  if (total != null) return text.shownOf(listed, showCount(total));
  return hasMore === true ? text.shownAndMore(listed) : text.shownAll(listed);
}

export function Table<T>(props: TableProps<T>): JSX.Element {
  const count = (): number => props.of.rows?.length ?? 0;
  return (
    <>
      <Show when={props.of.problem}>
        {(problem) => (
          <Unread
            problem={problem().message}
            title={count() > 0 ? text.staleTable : text.unread}
            retry={props.of.retry}
          />
        )}
      </Show>
      <Switch>
        <Match when={count() > 0}>
          <Rows table={props} rows={props.of.rows ?? []} />
        </Match>
        <Match when={props.of.problem != null}>{null}</Match>
        <Match when={props.of.rows === undefined || props.of.isLoading === true || props.of.isAnswered === false}>
          <Loading />
        </Match>
        <Match when={props.of.rows !== undefined}>
          <Empty title={props.empty}>{props.emptyAbout}</Empty>
        </Match>
      </Switch>
      <Show when={props.of.hasMore === true && count() > 0 && count() <= allDrawnMax}>
        <div class="table-more">
          <Button onClick={() => props.of.readMore?.()} isBusy={props.of.isLoading ?? false}>
            {text.more}
          </Button>
        </div>
      </Show>
      <Show when={props.of.total !== undefined && props.of.isAnswered === true && props.of.problem == null}>
        <p
          class="table-count faint small"
          classList={{ 'visually-hidden': count() === 0 }}
          role={props.isLive === true ? undefined : 'status'}
        >
          {counted(props.of)}
        </p>
      </Show>
    </>
  );
}
