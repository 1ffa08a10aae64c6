// What a person makes of a verdict, and the proof that it can be made again.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { Confirm, tell } from '../../kit/overlays.js';
import { engineText } from '../../texts/engine/engine.js';
import { verdictText as text } from '../../texts/engine/verdict.js';
import { rungIn, type Verdict } from './words.js';

type Mark = NonNullable<Verdict['marked']>;

export function Marks(props: { readonly of: Verdict; readonly onMarked: () => void }): JSX.Element {
  const action = createAction();
  const [isAsking, setAsking] = createSignal(false);
  const mark = async (as: Mark): Promise<void> => {
    const params = { id: String(props.of.id) };
    if (!(await action.run(() => call('POST /api/ai/verdicts/{id}/mark', { params, body: { mark: as } })))) return;
    tell(text.markSaved[as]);
    setAsking(false);
    props.onMarked();
  };
  return (
    <div class="stack tight">
      <div class="row wrap">
        <Show when={props.of.marked !== 'attack'}>
          <Button isBusy={action.isBusy()} icon="check" onClick={() => void mark('attack')}>
            {text.markAttack}
          </Button>
        </Show>
        <Show when={props.of.marked !== 'false_positive'}>
          <Button isBusy={action.isBusy()} onClick={() => setAsking(true)}>
            {text.markFalse}
          </Button>
        </Show>
      </div>
      <Show when={!isAsking() && action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Confirm
        isOpen={isAsking()}
        title={text.markTitle}
        action={text.markFalse}
        isBusy={action.isBusy()}
        onConfirm={() => void mark('false_positive')}
        onClose={() => setAsking(false)}
      >
        <p>{text.markAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </div>
  );
}

type Replayed = Reply<'GET /api/ai/verdicts/{id}/replay'>;

const said = ({ verdict, risk }: Readonly<Record<string, unknown>>): string => {
  const rung = rungIn(verdict);
  return `${rung === '' ? String(verdict) : engineText.rungs[rung]}, ${text.riskOf(Number(risk))}`;
};

export function Replay(props: { readonly id: number }): JSX.Element {
  const action = createAction();
  const [result, setResult] = createSignal<Replayed | null>(null);
  const replay = (): Promise<boolean> =>
    action.run(async () =>
      setResult(await call('GET /api/ai/verdicts/{id}/replay', { params: { id: String(props.id) } })),
    );
  return (
    <section class="stack tight">
      <div class="row wrap">
        <Button icon="play" isBusy={action.isBusy()} onClick={() => void replay()}>
          {text.replay}
        </Button>
        <span class="small muted">{text.replayAbout}</span>
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="warn">{found()}</Notice>}</Show>
      <Show when={result()}>
        {(found) => (
          <Notice tone={found().equal ? 'good' : 'danger'} {...(found().equal ? {} : { title: text.replayOther })}>
            {found().equal
              ? text.replayEqual(said(found().replayed), found().version)
              : text.replayBoth(said(found().stored), said(found().replayed))}
          </Notice>
        )}
      </Show>
    </section>
  );
}
