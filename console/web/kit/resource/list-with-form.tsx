// A short list whose rows open in the form that makes new ones: for what has no more to show than its form does.
import { createSignal, Show, type JSX } from 'solid-js';
import type { PagedList } from '../../client/pages.js';
import { Button } from '../basics.js';
import { Overlay } from '../overlays.js';
import { ListCard } from '../table/list-card.js';
import type { TableColumn } from '../table/table.js';
import { Removal } from './entry-form.js';
import type { ResourceRow, ResourceText } from './resource-list.js';

export interface FormProps<T> {
  /** null: a new one. */
  readonly of: T | null;
  /** The button that deletes it, to stand beside the one that saves. */
  readonly removal: JSX.Element;
  readonly onDone: () => void;
}

export function ListWithForm<T extends ResourceRow>(props: {
  readonly text: ResourceText;
  readonly mayEdit: boolean;
  readonly list: PagedList<T>;
  readonly columns: readonly TableColumn<T>[];
  readonly form: (props: FormProps<T>) => JSX.Element;
  readonly remove: (row: T) => Promise<unknown>;
}): JSX.Element {
  const [opened, setOpened] = createSignal<T | 'new' | null>(null);
  const done = (): void => {
    setOpened(null);
    props.list.reload();
  };
  const formOf = (of: T | null): JSX.Element =>
    props.form({
      of,
      removal:
        of === null ? null : (
          <Removal
            title={props.text.deleteTitle}
            about={props.text.deleteAbout}
            remove={() => props.remove(of)}
            onRemoved={done}
          />
        ),
      onDone: done,
    });
  return (
    <>
      <ListCard
        title={props.text.list}
        label={props.text.list}
        list={props.list}
        columns={props.columns}
        keyOf={({ id }) => id}
        {...(props.mayEdit ? { onOpen: (row: T) => void setOpened(() => row) } : {})}
        empty={props.text.none}
        emptyAbout={props.text.noneAbout}
        actions={
          <Show when={props.mayEdit}>
            <Button isSmall look="primary" icon="plus" onClick={() => setOpened('new')}>
              {props.text.add}
            </Button>
          </Show>
        }
      />
      <Overlay
        isOpen={opened() !== null}
        look="wide"
        title={opened() === 'new' ? props.text.add : props.text.one}
        onClose={() => setOpened(null)}
      >
        <Show when={opened()} keyed>
          {(of) => formOf(of === 'new' ? null : of)}
        </Show>
      </Overlay>
    </>
  );
}
