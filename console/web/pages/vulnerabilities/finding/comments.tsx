// What people say of a finding, the oldest first; one's own words can be taken back, their place stays.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Button, Foreign, ForeignLines, Notice } from '../../../kit/basics.js';
import { AreaField } from '../../../kit/form.js';
import { Read } from '../../../kit/page-state.js';
import { findingsText as text } from '../../../texts/vm/findings.js';

/** As many as one answer holds. */
const commentsMax = 500;

/** `me`: the e-mail address of whoever looks, undefined until it is known. */
export function Comments(props: { readonly id: string; readonly me: string | undefined }): JSX.Element {
  const comments = createQuery('GET /api/v1/comments', () => ({
    query: { entity: 'finding' as const, entity_id: props.id, limit: commentsMax },
  }));
  const [words, setWords] = createSignal('');
  const action = createAction();
  const say = (): Promise<boolean> =>
    action.run(async () => {
      await call('POST /api/v1/comments', { body: { entity: 'finding', entity_id: props.id, text: words().trim() } });
      setWords('');
      await comments.reload();
    });
  const takeBack = (id: string): Promise<boolean> =>
    action.run(async () => {
      await call('DELETE /api/v1/comments/{id}', { params: { id } });
      await comments.reload();
    });
  return (
    <section class="stack tight">
      <h3>{text.comments}</h3>
      <Read of={comments}>
        {(data) => (
          <ol class="stack tight">
            <For each={data().items} fallback={<li class="muted">{text.noComments}</li>}>
              {(one) => (
                <li class="stack tight">
                  <ForeignLines text={one.text ?? text.takenBack} max={20_000} />
                  <span class="small faint row wrap">
                    <Foreign text={one.author} max={100} /> {showMoment(one.created_at)}
                    <Show when={one.author === props.me && one.text !== null}>
                      <Button look="plain" isSmall onClick={() => void takeBack(one.id)}>
                        {text.takeBack}
                      </Button>
                    </Show>
                  </span>
                </li>
              )}
            </For>
          </ol>
        )}
      </Read>
      <AreaField label={text.comment} value={words()} onInput={setWords} rows={2} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button isSmall isBusy={action.isBusy()} disabled={words().trim() === ''} onClick={() => void say()}>
          {text.say}
        </Button>
      </div>
    </section>
  );
}
