// A resource of the vulnerability manager as people use it: a list, filters above it, one row in a drawer that the
// address names, a form for what is made and changed, and a question before a deletion. A page says what it is made of.
import { useSearchParams } from '@solidjs/router';
import { createSignal, Show, type Accessor, type JSX } from 'solid-js';
import type { PagedList } from '../../client/pages.js';
import type { QueryState } from '../../client/query.js';
import { kitText } from '../../texts/kit.js';
import { Button, Foreign, Pairs } from '../basics.js';
import { AddressFilters, type AddressFilter } from '../fields/address-filters.js';
import { Overlay, tell } from '../overlays.js';
import { Read } from '../page-state.js';
import { createChosen, ListCard } from '../table/list-card.js';
import type { TableColumn } from '../table/table.js';
import { Removal } from './entry-form.js';

export interface ResourceRow {
  readonly id: string;
  readonly version: number;
}

/** What is said of a resource; buttons that all have are the kit's. */
export interface ResourceText {
  readonly list: string;
  readonly one: string;
  readonly add: string;
  readonly none: string;
  readonly noneAbout: string;
  readonly deleteTitle: string;
  readonly deleteAbout: string;
}

export interface ResourceProps<T extends ResourceRow> {
  readonly text: ResourceText;
  /** Parameter of the address that names the row in the drawer. */
  readonly param: string;
  readonly mayEdit: boolean;
  readonly list: PagedList<T>;
  readonly columns: readonly TableColumn<T>[];
  readonly filters?: readonly AddressFilter[];
  readonly nameOf: (row: T) => string | null;
  readonly facts: (row: T) => readonly (readonly [string, JSX.Element])[];
  /** Below the facts. What it stores of the row by itself it hands to `keep`: true when it was stored. */
  readonly more?: (row: Accessor<T>, keep: (stored: Promise<boolean>) => void) => JSX.Element;
  readonly form: (row: T | null, onSaved: (saved: ResourceRow) => void) => JSX.Element;
  readonly read: (id: string) => QueryState<T>;
  readonly remove: (row: T) => Promise<unknown>;
}

/** `If-Match` of a row: what somebody else has changed meanwhile is not written over. */
export const matchOf = ({ version }: ResourceRow): string => `"${version}"`;

function Opened<T extends ResourceRow>(props: {
  readonly of: ResourceProps<T>;
  readonly id: string;
  readonly onRemoved: () => void;
}): JSX.Element {
  const one = props.of.read(props.id);
  const [isEditing, setEditing] = createSignal(false);
  const changed = async (): Promise<void> => {
    props.of.list.reload();
    await one.reload();
  };
  let kept: Promise<unknown> = Promise.resolve();
  const keep = (stored: Promise<boolean>): void =>
    void (kept = Promise.all([kept, stored.then((isStored) => (isStored ? changed() : undefined))]));
  // a form begins with the version that is stored, also where an answer below it is still on its way
  const edit = (): void => void kept.then(() => setEditing(true));
  // what is below the facts begins with the version that was stored, not with the one before
  const saved = (): void => void changed().then(() => setEditing(false));
  return (
    <Read of={one}>
      {(row) => (
        <Show when={!isEditing()} fallback={props.of.form(row(), saved)}>
          <div class="stack">
            <Pairs of={props.of.facts(row())} />
            <Show when={props.of.mayEdit}>
              <div class="row wrap">
                <Button onClick={edit}>{kitText.edit}</Button>
                <Removal
                  title={props.of.text.deleteTitle}
                  about={props.of.text.deleteAbout}
                  name={<Foreign text={props.of.nameOf(row())} max={200} />}
                  remove={() => props.of.remove(row())}
                  onRemoved={() => {
                    tell(kitText.deleted);
                    props.onRemoved();
                  }}
                />
              </div>
            </Show>
            {props.of.more?.(row, keep)}
          </div>
        </Show>
      )}
    </Read>
  );
}

export function ResourceList<T extends ResourceRow>(props: ResourceProps<T>): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const [chosen, choose] = createChosen(props.param);
  const added = ({ id }: ResourceRow): void => {
    setSearch({ add: '', [props.param]: id });
    props.list.reload();
  };
  const removed = (): void => {
    choose(null);
    props.list.reload();
  };
  return (
    <>
      <Show when={props.filters}>{(filters) => <AddressFilters of={filters()} />}</Show>
      <ListCard
        label={props.text.list}
        title={props.text.list}
        actions={
          <Show when={props.mayEdit}>
            <Button isSmall look="primary" icon="plus" onClick={() => setSearch({ add: '1' })}>
              {props.text.add}
            </Button>
          </Show>
        }
        list={props.list}
        columns={props.columns}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={props.text.none}
        emptyAbout={props.text.noneAbout}
      />
      <Overlay isOpen={chosen() !== null} look="drawer" title={props.text.one} onClose={() => choose(null)}>
        <Show when={chosen()} keyed>
          {(id) => <Opened of={props} id={id} onRemoved={removed} />}
        </Show>
      </Overlay>
      <Overlay
        isOpen={search['add'] === '1' && props.mayEdit}
        look="wide"
        title={props.text.add}
        onClose={() => setSearch({ add: '' })}
      >
        {props.form(null, added)}
      </Overlay>
    </>
  );
}
