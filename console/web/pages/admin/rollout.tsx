// The rollout that is under way, or the last one: which nodes have the version, what was compared, and the two ways on.
import { For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Notice, Pairs, type Tone } from '../../kit/basics.js';
import { tell } from '../../kit/overlays.js';
import { rolloutText as text } from '../../texts/resources/rollout.js';

type Rollout = Item<'GET /api/rollouts'>;
type Shares = NonNullable<Rollout['seen']>['ring'];

const toneOf = (status: Rollout['status']): Tone =>
  status === 'finished' ? 'good' : status === 'stopped' ? 'danger' : 'info';
const percent = (rate: number): string => `${(rate * 100).toFixed(1)} %`;

function SharesRow(props: { readonly title: string; readonly of: Shares }): JSX.Element {
  return (
    <tr>
      <td>{props.title}</td>
      <td class="nums">{showCount(props.of.requests)}</td>
      <td class="nums">{percent(props.of.error_rate)}</td>
      <td class="nums">{percent(props.of.block_rate)}</td>
      <td class="nums">{props.of.latency_ms === null ? '–' : text.ms(props.of.latency_ms.toFixed(1))}</td>
    </tr>
  );
}

function Compared(props: { readonly seen: NonNullable<Rollout['seen']> }): JSX.Element {
  return (
    <table class="table" aria-label={text.compared}>
      <thead>
        <tr>
          <For each={[text.group, text.requests, text.errors, text.blocked, text.latency]}>
            {(title) => <th scope="col">{title}</th>}
          </For>
        </tr>
      </thead>
      <tbody>
        <SharesRow title={text.withVersion} of={props.seen.ring} />
        <SharesRow title={props.seen.against === 'before' ? text.sameBefore : text.others} of={props.seen.reference} />
      </tbody>
    </table>
  );
}

function One(props: { readonly rollout: Rollout; readonly onDone: () => void }): JSX.Element {
  const action = createAction();
  const stop = async (): Promise<void> => {
    if (!(await action.run(() => call('POST /api/rollouts/stop')))) return;
    tell(text.stopped);
    props.onDone();
  };
  const goOn = async (): Promise<void> => {
    if (!(await action.run(() => call('POST /api/rollouts/continue')))) return;
    tell(text.wentOn);
    props.onDone();
  };
  const isRunning = (): boolean => props.rollout.status === 'running';
  return (
    <Card
      title={text.titleOf(props.rollout.version)}
      actions={
        <Show when={isRunning() && mayAs('operator')}>
          <Button isSmall isBusy={action.isBusy()} onClick={() => void goOn()}>
            {text.goOn}
          </Button>
          <Button isSmall look="danger" isBusy={action.isBusy()} onClick={() => void stop()}>
            {text.stop}
          </Button>
        </Show>
      }
    >
      <div class="stack">
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Pairs
          of={[
            [text.status, <Badge tone={toneOf(props.rollout.status)}>{props.rollout.status}</Badge>],
            [text.ring, props.rollout.ring ?? '–'],
            [text.order, text.orderOf(props.rollout.rings.join(', '))],
            [text.nodes, <span class="mono">{props.rollout.nodes.join(', ')}</span>],
            [text.started, text.startedBy(showMoment(props.rollout.started_at), props.rollout.started_by)],
            [text.hold, text.seconds(props.rollout.limits.hold_seconds)],
          ]}
        />
        <Show when={props.rollout.reason}>
          <Notice tone="danger" title={text.stopped}>
            {props.rollout.reason}
          </Notice>
        </Show>
        <Show when={isRunning() ? props.rollout.seen?.note : ''}>
          {(note) => (
            <Notice tone="neutral" title={text.waits}>
              {note()}
            </Notice>
          )}
        </Show>
        <Show when={props.rollout.seen}>{(seen) => <Compared seen={seen()} />}</Show>
      </div>
    </Card>
  );
}

/** Nothing where there never was one. */
export function LastRollout(): JSX.Element {
  const rollouts = createQuery('GET /api/rollouts', () => ({}), { everyMs: 3000 });
  return (
    <Show when={rollouts.data()?.items[0]}>
      {(one) => <One rollout={one()} onDone={() => void rollouts.reload()} />}
    </Show>
  );
}
