// Which targets are in a group.
import { createEffect, createMemo, createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { CheckList } from '../../kit/fields/check-list.js';
import type { Choice } from '../../kit/fields/matching.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { targetsText as text } from '../../texts/resources/targets.js';
import type { Applications } from '../vulnerabilities/words.js';

/** As many as one answer holds; a group holds at most ten answers. */
const pageMax = 500;
const targetsMax = 5000;

/** Targets that can be chosen: as many as a group holds, and beyond them those that the server finds by words. */
function createTargetChoices(applications: Applications) {
  const list = createPagedList('GET /api/v1/targets', () => ({ sort: 'url' as const }), pageMax);
  createEffect(() => {
    if (list.hasMore() && !list.isLoading() && list.items().length < targetsMax) list.readMore();
  });
  const [words, setWords] = createSignal('');
  const isCut = (): boolean => list.hasMore() && list.items().length >= targetsMax;
  const found = createQuery('GET /api/v1/targets', () =>
    isCut() && words() !== '' ? { query: { q: words(), limit: pageMax, sort: 'url' as const } } : null,
  );
  const choices = createMemo((): readonly Choice[] => {
    const all = [...list.items(), ...(words() === '' ? [] : (found.data()?.items ?? []))];
    const byId = new Map(all.map((target) => [target.id, target]));
    return [...byId.values()].map(({ id, url, application_id: of }) => ({
      value: id,
      title: url ?? id,
      note: applications.nameOf(of),
    }));
  });
  return { choices, setWords };
}

function Named(props: { readonly ids: readonly string[]; readonly choices: readonly Choice[] }): JSX.Element {
  const seen = (): readonly Choice[] => props.choices.filter(({ value }) => props.ids.includes(value));
  return (
    <Show when={props.ids.length > 0} fallback={<p class="muted">{text.membersNone}</p>}>
      <ul class="plain-list stack tight">
        <For each={seen()}>
          {({ title, note }) => (
            <li>
              <Foreign text={title} max={200} />{' '}
              <span class="muted small">
                <Foreign text={note} max={80} />
              </span>
            </li>
          )}
        </For>
      </ul>
      <Show when={seen().length < props.ids.length}>
        <p class="muted small">{text.membersMore(showCount(props.ids.length - seen().length))}</p>
      </Show>
    </Show>
  );
}

export function Members(props: {
  readonly id: string;
  readonly applications: Applications;
  readonly mayEdit: boolean;
}): JSX.Element {
  const stored = createQuery('GET /api/v1/target-groups/{id}/targets', () => ({ params: { id: props.id } }));
  const { choices, setWords } = createTargetChoices(props.applications);
  const [changed, setChanged] = createSignal<readonly string[] | null>(null);
  const action = createAction();
  const ids = (): readonly string[] => changed() ?? stored.data()?.target_ids ?? [];
  const save = async (): Promise<void> => {
    const options = { params: { id: props.id }, body: { target_ids: [...ids()] } };
    if (!(await action.run(() => call('PUT /api/v1/target-groups/{id}/targets', options)))) return;
    tell(text.membersSaved(showCount(ids().length)));
    await stored.reload();
    setChanged(null);
  };
  return (
    <section class="stack">
      <Read of={stored}>
        {() => (
          <Show
            when={props.mayEdit}
            fallback={
              <>
                <h3>{text.members}</h3>
                <Named ids={ids()} choices={choices()} />
              </>
            }
          >
            <CheckList
              label={text.members}
              choices={choices()}
              chosen={ids()}
              onChange={setChanged}
              onWords={setWords}
              isDisabled={action.isBusy()}
            />
            <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
            <div>
              <Button look="primary" isBusy={action.isBusy()} disabled={changed() === null} onClick={() => void save()}>
                {text.saveMembers}
              </Button>
            </div>
          </Show>
        )}
      </Read>
    </section>
  );
}
