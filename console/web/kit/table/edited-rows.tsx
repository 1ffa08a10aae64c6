// Rows that people make, edit and delete: the dialog with the form, the question before a deletion, and what is said
// after it; the same for every list of such rows.
import { createSignal, Show, type Accessor, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { Notice } from '../basics.js';
import { Foreign } from '../foreign.js';
import { Confirm, Overlay, tell } from '../overlays.js';

export interface EditedRows<T> {
  /** The row in the form; 'new': an empty form; null: no form. */
  readonly edited: Accessor<T | 'new' | null>;
  readonly deleting: Accessor<T | null>;
  edit(row: T | 'new' | null): void;
  askToDelete(row: T | null): void;
}

export function createEditedRows<T extends object>(): EditedRows<T> {
  const [edited, setEdited] = createSignal<T | 'new' | null>(null);
  const [deleting, setDeleting] = createSignal<T | null>(null);
  return {
    edited,
    deleting,
    edit: (row) => setEdited(() => row),
    askToDelete: (row) => setDeleting(() => row),
  };
}

interface Texts {
  readonly delete: string;
  readonly deleted: string;
}

/** `onChanged`: a row was saved or deleted. */
export function EditedRowDialogs<T extends { readonly name: string | null }>(props: {
  readonly of: EditedRows<T>;
  readonly text: Texts;
  /** Above the form of a row that is made; above that of one that is there stands its name. */
  readonly newTitle: string;
  readonly deleteTitle: string;
  readonly deleteAbout: string;
  /** `row`: null for a new one. */
  readonly form: (row: T | null, onSaved: () => void) => JSX.Element;
  readonly remove: (row: T) => Promise<unknown>;
  readonly onChanged: () => void;
}): JSX.Element {
  const action = createAction();
  const remove = async (): Promise<void> => {
    const row = props.of.deleting();
    if (row === null || !(await action.run(() => props.remove(row)))) return;
    tell(props.text.deleted);
    props.of.askToDelete(null);
    props.onChanged();
  };
  const title = (): string => {
    const row = props.of.edited();
    return (row === 'new' ? null : row?.name) ?? props.newTitle;
  };
  const saved = (): void => {
    props.of.edit(null);
    props.onChanged();
  };
  return (
    <>
      <Overlay isOpen={props.of.edited() !== null} look="wide" title={title()} onClose={() => props.of.edit(null)}>
        <Show when={props.of.edited()} keyed>
          {(row) => props.form(row === 'new' ? null : row, saved)}
        </Show>
      </Overlay>
      <Confirm
        isOpen={props.of.deleting() !== null}
        title={props.deleteTitle}
        action={props.text.delete}
        isBusy={action.isBusy()}
        onConfirm={() => void remove()}
        onClose={() => props.of.askToDelete(null)}
      >
        <p>
          <Foreign text={props.of.deleting()?.name} max={200} />
        </p>
        <p>{props.deleteAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
