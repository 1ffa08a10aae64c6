// One virtual patch: its rule and why it is like this, its proof, who tried, and the way into force and out of it.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Button, Foreign, ForeignLines, Notice, Pairs } from '../../kit/basics.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { vpatchText as text } from '../../texts/vm/vpatches.js';
import { PatchProof } from './patch-proof.js';
import { PatchState, type Patch } from './patches.js';

function Moves(props: { readonly of: Patch; readonly onDone: () => void }): JSX.Element {
  const [asked, setAsked] = createSignal<'activate' | 'disable' | null>(null);
  const action = createAction();
  const params = () => ({ params: { id: props.of.id } });
  const run = async (work: () => Promise<string>): Promise<void> => {
    const isDone = await action.run(async () => tell(await work()));
    setAsked(null);
    if (isDone) props.onDone();
  };
  const activate = async (): Promise<string> => {
    await call('POST /api/v1/vpatches/{id}/activate', params());
    return text.activated;
  };
  const prove = async (): Promise<string> => {
    const { holds } = await call('POST /api/v1/vpatches/{id}/prove', params());
    return holds ? text.provenNow : text.provenNot;
  };
  const disable = async (): Promise<string> => {
    await call('POST /api/v1/vpatches/{id}/disable', params());
    return text.disabled;
  };
  const isInForce = (): boolean => ['active', 'proven', 'stale'].includes(props.of.state);
  return (
    <section class="stack tight">
      <div class="row wrap">
        <Show
          when={isInForce()}
          fallback={
            <Button look="primary" icon="shield" isBusy={action.isBusy()} onClick={() => setAsked('activate')}>
              {text.activate}
            </Button>
          }
        >
          <Button icon="check" isBusy={action.isBusy()} onClick={() => void run(prove)}>
            {text.prove}
          </Button>
          <Button look="danger" isBusy={action.isBusy()} onClick={() => setAsked('disable')}>
            {text.disable}
          </Button>
        </Show>
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Confirm
        isOpen={asked() !== null}
        title={asked() === 'disable' ? text.disableAsk : text.activateAsk}
        action={asked() === 'disable' ? text.disable : text.activate}
        isBusy={action.isBusy()}
        onConfirm={() => void run(asked() === 'disable' ? disable : activate)}
        onClose={() => setAsked(null)}
      >
        <p>{asked() === 'disable' ? text.disableAbout : text.activateAbout}</p>
      </Confirm>
    </section>
  );
}

function Hits(props: { readonly id: string }): JSX.Element {
  const hits = createQuery('GET /api/v1/vpatches/{id}/hits', () => ({ params: { id: props.id } }));
  return (
    <section class="stack tight">
      <h3>{text.attempts}</h3>
      <Read of={hits}>
        {(data) => (
          <Show when={data().total > 0} fallback={<p class="muted">{text.noHits}</p>}>
            <p>
              <A href={`/soc?rule_id=${data().rule_id}`}>{showCount(data().total)}</A>, {showMoment(data().last_at)}
            </p>
            <ul class="plain-list">
              <For each={data().sites}>
                {({ site, hits: count }) => (
                  <li>
                    <Foreign text={text.hitsWhere(site, count)} max={100} />
                  </li>
                )}
              </For>
            </ul>
          </Show>
        )}
      </Read>
    </section>
  );
}

function RequestText(props: { readonly of: Patch['attack'] }): JSX.Element {
  const lines = (): string =>
    [
      `${props.of.method} ${props.of.uri}`,
      ...props.of.headers.map(([name = '', value = '']) => `${name}: ${value}`),
      ...(props.of.body === '' ? [] : ['', props.of.body]),
    ].join('\n');
  return (
    <div class="code">
      <ForeignLines text={lines()} max={10_000} />
    </div>
  );
}

function Content(props: { readonly of: Patch; readonly mayPatch: boolean; readonly onDone: () => void }): JSX.Element {
  return (
    <>
      <div class="row wrap">
        <PatchState of={props.of.state} />
        <strong>
          <Foreign text={props.of.name} max={300} />
        </strong>
      </div>
      <Show when={props.mayPatch}>
        <Moves of={props.of} onDone={props.onDone} />
      </Show>
      <section class="stack tight">
        <h3>{text.why}</h3>
        <ul class="stack tight">
          <For each={props.of.explanation}>
            {(line) => (
              <li>
                <Foreign text={line} max={2000} />
              </li>
            )}
          </For>
        </ul>
      </section>
      <Pairs
        of={[
          [text.strategy, text.strategies[props.of.strategy]],
          [text.site, <Foreign text={props.of.site ?? text.everySite} />],
          [
            text.findings,
            <span class="row wrap">
              <For each={props.of.vulnerability_ids}>
                {(id) => (
                  <A class="button small" href={`/vulnerabilities?status=all&finding=${id}`}>
                    {id}
                  </A>
                )}
              </For>
            </span>,
          ],
        ]}
      />
      <Show when={props.of.proof}>{(proof) => <PatchProof of={proof()} />}</Show>
      <Hits id={props.of.id} />
      <section class="stack tight">
        <h3>{text.rule}</h3>
        <div class="code">
          <ForeignLines text={props.of.seclang} max={20_000} />
        </div>
      </section>
      <section class="stack tight">
        <h3>{text.attack}</h3>
        <span class="small faint">{text.origins[props.of.attack_origin]}</span>
        <RequestText of={props.of.attack} />
      </section>
    </>
  );
}

export function PatchDrawer(props: {
  /** null: closed. */
  readonly id: string | null;
  readonly mayPatch: boolean;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}): JSX.Element {
  const one = createQuery('GET /api/v1/vpatches/{id}', () => (props.id === null ? null : { params: { id: props.id } }));
  const done = (): void => {
    void one.reload();
    props.onChanged();
  };
  return (
    <Overlay isOpen={props.id !== null} look="drawer" title={text.patch(props.id ?? '')} onClose={props.onClose}>
      <Read of={one}>{(data) => <Content of={data()} mayPatch={props.mayPatch} onDone={done} />}</Read>
    </Overlay>
  );
}
