// Saved filters: what is filtered by now gets a name, one's own or for everybody, and is chosen again from a list.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Reply } from '../../client/http.js';
import type { QueryState } from '../../client/query.js';
import { Button } from '../../kit/basics.js';
import type { Filters } from '../../kit/filter-bar.js';
import { Overlay, tell, tellProblem } from '../../kit/overlays.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import { findingsText as text } from '../../texts/vm/findings.js';
import { bodyOf, predicateOfFilter, type Predicate } from '../governance/predicate.js';

export type Views = Reply<'GET /api/v1/findings/views'>;
export type View = Views['items'][number];

/** Filters as a predicate, and the names of those that predicates cannot say. */
export function predicateOf(filters: Filters): { readonly predicate: Predicate | null; readonly left: string[] } {
  const parts: Predicate[] = [];
  const left: string[] = [];
  for (const [name, value] of Object.entries(filters)) {
    const part = predicateOfFilter(name, value);
    if (part === undefined) left.push(name);
    else parts.push(part);
  }
  const [only] = parts;
  if (only === undefined) return { predicate: null, left };
  return { predicate: parts.length === 1 ? only : { and: parts }, left };
}

type Named = Required<Pick<Body<'POST /api/v1/findings/views'>, 'name' | 'shared'>>;

const fields: readonly RowField<Named>[] = [
  { name: 'name', kind: 'text', label: text.nameOfFilter, isRequired: true },
  { name: 'shared', kind: 'switch', label: text.forEverybody },
];

export function SavedFilters(props: {
  readonly views: QueryState<Views>;
  readonly chosen: View | null;
  readonly filters: Filters;
  /** Number of whoever looks: only one's own filters can be deleted. */
  readonly mine: string | undefined;
  /** null: no saved filter. */
  readonly onChoose: (id: string | null) => void;
}): JSX.Element {
  const [isSaving, setSaving] = createSignal(false);
  const current = () => predicateOf(props.filters);
  const remove = async (id: string): Promise<void> => {
    const action = createAction();
    const isDone = await action.run(() => call('DELETE /api/v1/findings/views/{id}', { params: { id } }));
    if (!isDone) return tellProblem(new Error(action.problem() ?? ''));
    tell(text.filterDeleted);
    props.onChoose(null);
    await props.views.reload();
  };
  const open = (): void => {
    const { predicate, left } = current();
    if (left.length > 0) return tell(text.cannotBeSaved(left.join(', ')), true);
    if (predicate === null) return tell(text.nothingToSave, true);
    setSaving(true);
  };
  const items = (): readonly View[] => props.views.data()?.items ?? [];
  return (
    <>
      <Show when={items().length > 0}>
        <select
          class="select fit"
          aria-label={text.savedFilters}
          onChange={(event) => props.onChoose(event.currentTarget.value || null)}
        >
          <option value="">{text.savedFilters}</option>
          {items().map((view) => (
            <option value={view.id} selected={view.id === props.chosen?.id}>
              {view.shared ? text.sharedFilter(view.name) : view.name}
            </option>
          ))}
        </select>
      </Show>
      <Show
        when={props.chosen}
        fallback={
          <Button icon="plus" onClick={open}>
            {text.saveFilter}
          </Button>
        }
      >
        {(view) => (
          <Show when={view().owner_id === props.mine}>
            <Button onClick={() => void remove(view().id)}>{text.deleteFilter}</Button>
          </Show>
        )}
      </Show>
      <Overlay isOpen={isSaving()} title={text.saveFilter} onClose={() => setSaving(false)}>
        <Show when={current().predicate}>
          {(predicate) => (
            <RowForm
              fields={fields}
              start={{ name: '', shared: false }}
              isNew
              save={(body) => call('POST /api/v1/findings/views', { body: { ...body, query: bodyOf(predicate()) } })}
              onSaved={() => {
                setSaving(false);
                void props.views.reload();
              }}
            />
          )}
        </Show>
      </Overlay>
    </>
  );
}
