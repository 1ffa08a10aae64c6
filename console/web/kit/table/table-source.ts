// Tables of what was read in pages, and of what was read whole.
import type { PagedList } from '../../client/pages.js';
import type { QueryState } from '../../client/query.js';
import type { TableSource } from './table.js';

/** A list that is read page by page. */
export function ofPages<T>(list: PagedList<T>): TableSource<T> {
  return {
    get rows() {
      return list.items();
    },
    get problem() {
      return list.problem();
    },
    get isLoading() {
      return list.isLoading();
    },
    get hasMore() {
      return list.hasMore();
    },
    get isAnswered() {
      return list.isAnswered();
    },
    get isCut() {
      return list.isCut();
    },
    get total() {
      return list.total();
    },
    retry: list.reload,
    readMore: list.readMore,
  };
}

/** Rows within one answer. `totalOf`: how many there are in all, where the answer holds the first of them. */
export function ofQuery<Data, Row>(
  query: QueryState<Data>,
  rowsOf: (data: Data) => readonly Row[],
  totalOf?: (data: Data) => number,
): TableSource<Row> {
  return {
    get total() {
      const data = query.data();
      return data === undefined ? undefined : totalOf?.(data);
    },
    get rows() {
      const data = query.data();
      return data === undefined ? undefined : rowsOf(data);
    },
    get problem() {
      return query.problem();
    },
    get isAnswered() {
      return query.isAnswered();
    },
    retry: () => void query.reload(),
  };
}

/** Rows that are at hand. */
export function ofRows<Row>(rows: () => readonly Row[]): TableSource<Row> {
  return {
    get rows() {
      return rows();
    },
  };
}
