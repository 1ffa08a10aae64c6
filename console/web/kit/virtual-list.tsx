// A long list of which only what is seen is drawn: smooth at a hundred thousand rows. Rows are buttons: Tab reaches the
// list, the arrow keys (or j and k) walk it, Enter opens.
import { createVirtualizer } from '@tanstack/solid-virtual';
import { createEffect, For, type JSX } from 'solid-js';

export interface ListColumn<T> {
  readonly title: string;
  /** A CSS grid track, such as `minmax(12ch, 1fr)`. */
  readonly width: string;
  readonly isNumber?: boolean;
  cell(item: T): JSX.Element;
}

const rowHeight = 34;

export function VirtualList<T>(props: {
  readonly label: string;
  readonly items: readonly T[];
  readonly columns: readonly ListColumn<T>[];
  readonly keyOf: (item: T) => string;
  readonly chosen: string | null;
  readonly onChoose: (item: T) => void;
  /** The end is near: fetch more. */
  readonly onEnd: () => void;
  readonly height: string;
}): JSX.Element {
  let scroll: HTMLDivElement | undefined;
  const virtualizer = createVirtualizer({
    get count() {
      return props.items.length;
    },
    getScrollElement: () => scroll ?? null,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const columns = (): string => props.columns.map(({ width }) => width).join(' ');
  createEffect(() => {
    const last = virtualizer.getVirtualItems().at(-1);
    if (last !== undefined && last.index >= props.items.length - 5) props.onEnd();
  });
  const focusRow = (index: number): void => {
    if (index < 0 || index >= props.items.length) return;
    virtualizer.scrollToIndex(index);
    requestAnimationFrame(() => scroll?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus());
  };
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 15, PageUp: -15 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    focusRow(Math.min(props.items.length - 1, Math.max(0, index + by)));
  };
  return (
    <div
      class="table-scroll virtual-list"
      ref={scroll}
      style={{ height: props.height, '--columns': columns() }}
      role="region"
      aria-label={props.label}
      tabindex="-1"
    >
      <div class="virtual-head">
        <For each={props.columns}>{({ title, isNumber }) => <span classList={{ num: isNumber }}>{title}</span>}</For>
      </div>
      <div class="virtual" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        <For each={virtualizer.getVirtualItems()}>
          {(row) => {
            const item = (): T => props.items[row.index] as T;
            return (
              <button
                type="button"
                class="virtual-row"
                data-index={row.index}
                aria-current={props.items[row.index] !== undefined && props.keyOf(item()) === props.chosen}
                style={{ transform: `translateY(${row.start}px)` }}
                onClick={() => props.onChoose(item())}
                onKeyDown={(event) => onKeyDown(event, row.index)}
              >
                <For each={props.columns}>
                  {(column) => (
                    <span classList={{ nums: column.isNumber }}>
                      {props.items[row.index] === undefined ? '' : column.cell(item())}
                    </span>
                  )}
                </For>
              </button>
            );
          }}
        </For>
      </div>
    </div>
  );
}
