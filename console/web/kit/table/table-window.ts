// Which rows of a table are drawn: all of a short one; of a long one those that are seen, and a few around them.
import { createVirtualizer } from '@tanstack/solid-virtual';
import { createMemo, type Accessor } from 'solid-js';

const denseRowHeight = 34;
const rowHeight = 42;
/** From here on only what is seen is drawn. */
export const allDrawnMax = 80;

/** Rows that are drawn, and the height of those above and below them that are not, in pixels. */
export interface Drawn {
  readonly isPart: Accessor<boolean>;
  readonly indexes: Accessor<readonly number[]>;
  readonly above: Accessor<number>;
  readonly below: Accessor<number>;
  scrollTo(index: number): void;
  measure(element: Element): void;
}

export function createDrawn(count: Accessor<number>, isDense: boolean, scroll: Accessor<HTMLElement | null>): Drawn {
  const isPart = createMemo(() => count() > allDrawnMax);
  const virtualizer = createVirtualizer({
    get count() {
      return count();
    },
    get enabled() {
      return isPart();
    },
    getScrollElement: scroll,
    estimateSize: () => (isDense ? denseRowHeight : rowHeight),
    overscan: 12,
  });
  const parts = createMemo(() => (isPart() ? virtualizer.getVirtualItems() : []));
  return {
    isPart,
    indexes: createMemo(() => (isPart() ? parts().map(({ index }) => index) : [...Array(count()).keys()])),
    above: () => parts()[0]?.start ?? 0,
    below: () => (isPart() ? virtualizer.getTotalSize() - (parts().at(-1)?.end ?? 0) : 0),
    scrollTo: (index) => {
      if (isPart()) virtualizer.scrollToIndex(index);
    },
    measure: (element) => {
      if (!isDense && isPart()) queueMicrotask(() => virtualizer.measureElement(element));
    },
  };
}
