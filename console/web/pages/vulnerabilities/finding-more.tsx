// What else is known of a finding: what its risk is made of, where it was seen, and what people say of it.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { AreaField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { findingsText as text } from '../../texts/vm/findings.js';

/** Asked only once it is opened. */
function Fold(props: { readonly title: string; readonly children: () => JSX.Element }): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  return (
    <details class="fold" onToggle={(event) => event.currentTarget.open && setOpen(true)}>
      <summary>{props.title}</summary>
      <Show when={isOpen()}>
        <div class="stack tight">{props.children()}</div>
      </Show>
    </details>
  );
}

function Risk(props: { readonly id: string }): JSX.Element {
  const risk = createQuery('GET /api/v1/vulnerabilities/{id}/score-explain', () => ({ params: { id: props.id } }));
  const rows = (factors: unknown): readonly (readonly [string, JSX.Element])[] =>
    Object.entries((factors ?? {}) as Readonly<Record<string, unknown>>).map(([name, value]) => [
      text.factors[name as keyof typeof text.factors] ?? name,
      typeof value === 'number' ? value.toFixed(2) : String(value),
    ]);
  return (
    <Read of={risk}>
      {(data) => (
        <>
          <p>{text.riskIs(data().effective_risk, data().priority_score)}</p>
          <Pairs of={rows(data().factors)} />
        </>
      )}
    </Read>
  );
}

interface Occurrence {
  readonly tool?: string;
  readonly scope_key?: string;
  readonly location?: string;
  readonly last_seen?: string;
  readonly gone_at?: string | null;
}

function Seen(props: { readonly id: string }): JSX.Element {
  const seen = createQuery('GET /api/v1/vulnerabilities/{id}/occurrences', () => ({ params: { id: props.id } }));
  return (
    <Read of={seen}>
      {(data) => (
        <ul class="stack tight plain-list">
          <For each={data().items as readonly Occurrence[]} fallback={<li class="muted">{text.notSeen}</li>}>
            {(one) => (
              <li class="stack tight">
                <span class="mono">
                  <Foreign text={one.location ?? ''} max={300} />
                </span>
                <span class="small faint row wrap">
                  <Foreign text={text.seenBy(one.tool ?? '–', showMoment(one.last_seen))} max={200} />
                  <Show when={one.gone_at != null}>
                    <Badge>{text.gone}</Badge>
                  </Show>
                </span>
              </li>
            )}
          </For>
        </ul>
      )}
    </Read>
  );
}

function Comments(props: { readonly id: string; readonly me: string | undefined }): JSX.Element {
  const comments = createQuery('GET /api/v1/comments', () => ({
    query: { entity: 'finding' as const, entity_id: props.id, limit: 200 },
  }));
  const [words, setWords] = createSignal('');
  const action = createAction();
  const say = (): Promise<boolean> =>
    action.run(async () => {
      await call('POST /api/v1/comments', { body: { entity: 'finding', entity_id: props.id, text: words() } });
      setWords('');
      await comments.reload();
    });
  const takeBack = (id: string): Promise<boolean> =>
    action.run(async () => {
      await call('DELETE /api/v1/comments/{id}', { params: { id } });
      await comments.reload();
    });
  return (
    <>
      <Read of={comments}>
        {(data) => (
          <ol class="stack tight plain-list">
            <For each={data().items} fallback={<li class="muted">{text.noComments}</li>}>
              {(one) => (
                <li class="stack tight">
                  <Foreign text={one.text ?? text.takenBack} max={20_000} />
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
    </>
  );
}

export function FindingMore(props: { readonly id: string; readonly me: string | undefined }): JSX.Element {
  return (
    <section class="stack tight">
      <Fold title={text.riskMadeOf}>{() => <Risk id={props.id} />}</Fold>
      <Fold title={text.seenWhere}>{() => <Seen id={props.id} />}</Fold>
      <Fold title={text.comments}>{() => <Comments id={props.id} me={props.me} />}</Fold>
    </section>
  );
}
