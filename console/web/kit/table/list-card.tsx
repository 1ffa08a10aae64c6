// A list in its frame, as every page that is a list shows it; and the entry of it that is open, which the address
// names.
import { useSearchParams } from '@solidjs/router';
import { createMemo, type Accessor, type JSX } from 'solid-js';
import type { PagedList } from '../../client/pages.js';
import { Card } from '../basics.js';
import { Table, type TableProps } from './table.js';
import { ofPages } from './table-source.js';

interface ListCardProps<T> extends Omit<TableProps<T>, 'of'> {
  readonly list: PagedList<T>;
  /** Absent: the page's own heading says what it is. */
  readonly title?: string;
  readonly actions?: JSX.Element;
}

export function ListCard<T>(props: ListCardProps<T>): JSX.Element {
  return (
    <Card isFlush title={props.title} actions={props.actions}>
      <Table {...props} of={ofPages(props.list)} />
    </Card>
  );
}

/** The key of what is open, kept in the address under a name; null: nothing is. */
export function createChosen(name: string): readonly [Accessor<string | null>, (key: string | null) => void] {
  const [search, setSearch] = useSearchParams();
  const chosen = createMemo(() => {
    const given = search[name];
    return typeof given === 'string' && given !== '' ? given : null;
  });
  return [chosen, (key) => setSearch({ [name]: key ?? '' })];
}
