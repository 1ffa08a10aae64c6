// Connectors for security events: how far behind each is, what it refused, and how to send again.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item, type Reply } from '../../client/http.js';
import { showCount, showMoment, showSpan } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Notice, Pairs, type Tone } from '../../kit/basics.js';
import { TextField } from '../../kit/form.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { alertsText as text } from '../../texts/apis/alerts.js';

type Connector = Reply<'GET /api/siem'>['connectors'][number];
type Letter = Item<'GET /api/siem/connectors/{id}/dead-letters'>;

const everyMs = 10_000;
const tones: Readonly<Record<Connector['state'], Tone>> = {
  delivering: 'good',
  waiting: 'info',
  failing: 'danger',
  misconfigured: 'danger',
};
const columns: readonly TableColumn<Connector>[] = [
  { title: text.connector, cell: ({ name }) => <Foreign text={name} max={80} /> },
  { title: text.format, cell: ({ kind, format }) => `${kind} ${format}` },
  { title: text.state, cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
  { title: text.delivered, isNumber: true, cell: ({ delivered }) => showCount(delivered) },
  { title: text.waiting, isNumber: true, cell: ({ waiting }) => showCount(waiting) },
  { title: text.lag, isNumber: true, cell: ({ lag_seconds: lag }) => showSpan(lag) },
  { title: text.dead, isNumber: true, cell: ({ dead_letters: dead }) => showCount(dead) },
  { title: text.lastError, cell: ({ last_error: error }) => <Foreign text={error ?? '–'} max={160} /> },
];

const letterColumns: readonly TableColumn<Letter>[] = [
  { title: text.died, class: 'nums', cell: ({ died_at: at }) => showMoment(at) },
  { title: text.event, class: 'mono', cell: ({ event_id: id }) => <Foreign text={id} max={60} /> },
  { title: text.reason, cell: ({ reason }) => <Foreign text={reason} max={300} /> },
];

/** Of the last day, to whole minutes; the minute that is under way is part of it. */
const dayBefore = (): readonly [string, string] => {
  const minute = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}:00Z`;
  return [minute(Date.now() - 86_400_000), minute(Date.now() + 60_000)];
};

function Replay(props: { readonly id: string; readonly onDone: () => void }): JSX.Element {
  const [begin, end] = dayBefore();
  const [from, setFrom] = createSignal(begin);
  const [to, setTo] = createSignal(end);
  const action = createAction();
  const replay = async (): Promise<void> => {
    const isDone = await action.run(async () => {
      const options = { params: { id: props.id }, body: { from: from().trim(), to: to().trim() } };
      const { events } = await call('POST /api/siem/connectors/{id}/replays', options);
      tell(text.retried(showCount(events)));
    });
    if (isDone) props.onDone();
  };
  return (
    <section class="stack tight">
      <h3>{text.replay}</h3>
      <p class="muted">{text.replayAbout}</p>
      <div class="grid-2">
        <TextField label={text.from} value={from()} onInput={setFrom} />
        <TextField label={text.to} value={to()} onInput={setTo} />
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button isBusy={action.isBusy()} onClick={() => void replay()}>
          {text.replayNow}
        </Button>
      </div>
    </section>
  );
}

function DeadLetters(props: {
  readonly id: string;
  readonly mayChange: boolean;
  readonly onDone: () => void;
}): JSX.Element {
  const list = createPagedList('GET /api/siem/connectors/{id}/dead-letters', () => ({}), 50, { id: props.id });
  const [isAsked, setAsked] = createSignal(false);
  const action = createAction();
  const done = (words: string): void => {
    tell(words);
    setAsked(false);
    list.reload();
    props.onDone();
  };
  const params = () => ({ params: { id: props.id } });
  const retry = (): Promise<boolean> =>
    action.run(async () => {
      const { events } = await call('POST /api/siem/connectors/{id}/dead-letters/retry', { ...params(), body: {} });
      done(text.retried(showCount(events)));
    });
  const discard = (): Promise<boolean> =>
    action.run(async () => {
      await call('DELETE /api/siem/connectors/{id}/dead-letters', params());
      done(text.discarded);
    });
  return (
    <>
      <ListCard
        label={text.dead}
        title={text.dead}
        actions={
          <Show when={props.mayChange && list.items().length > 0}>
            <Button isSmall isBusy={action.isBusy()} onClick={() => void retry()}>
              {text.retry}
            </Button>
            <Button isSmall look="danger" onClick={() => setAsked(true)}>
              {text.discard}
            </Button>
          </Show>
        }
        list={list}
        columns={letterColumns}
        keyOf={({ event_id: id }) => id}
        empty={text.noDead}
      />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Confirm
        isOpen={isAsked()}
        title={text.discardAsk}
        action={text.discard}
        isBusy={action.isBusy()}
        onConfirm={() => void discard()}
        onClose={() => setAsked(false)}
      >
        <p>{text.discardAbout}</p>
      </Confirm>
    </>
  );
}

/** Of one connector: how far it is, what it refused, and what may be done about it. */
export function ConnectorDetails(props: { readonly of: Connector; readonly onDone: () => void }): JSX.Element {
  const action = createAction();
  const test = (): Promise<boolean> =>
    action.run(async () => {
      const options = { params: { id: props.of.name }, body: {} };
      const { delivered, event_id: id, reason } = await call('POST /api/siem/connectors/{id}/test', options);
      if (delivered) tell(text.testDelivered(id));
      else tell(text.testFailed(reason ?? ''), true);
    });
  return (
    <>
      <Show when={props.of.problems.length > 0}>
        <Notice tone="danger" title={text.problems}>
          <Foreign text={props.of.problems.join('; ')} max={2000} />
        </Notice>
      </Show>
      <Pairs
        of={[
          [text.state, <Badge tone={tones[props.of.state]}>{props.of.state}</Badge>],
          [text.delivered, showCount(props.of.delivered)],
          [text.waiting, showCount(props.of.waiting)],
          [text.lag, showSpan(props.of.lag_seconds)],
          [text.lastError, <Foreign text={props.of.last_error ?? '–'} max={1000} />],
        ]}
      />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={mayAs('admin')}>
        <div>
          <Button isBusy={action.isBusy()} onClick={() => void test()}>
            {text.send}
          </Button>
        </div>
      </Show>
      <DeadLetters id={props.of.name} mayChange={mayAs('admin')} onDone={props.onDone} />
      <Show when={mayAs('admin')}>
        <Replay id={props.of.name} onDone={props.onDone} />
      </Show>
    </>
  );
}

export function Connectors(): JSX.Element {
  const siem = createQuery('GET /api/siem', () => ({}), { everyMs });
  const [chosen, choose] = createChosen('connector');
  const opened = (): Connector | undefined => siem.data()?.connectors.find(({ name }) => name === chosen());
  return (
    <>
      <Card
        isFlush
        title={text.connectors}
        actions={
          <A class="button small" href="/connectors">
            {text.toSettings}
          </A>
        }
      >
        <Table
          label={text.connectors}
          columns={columns}
          of={ofQuery(siem, ({ connectors }) => connectors)}
          keyOf={({ name }) => name}
          chosen={chosen()}
          onOpen={({ name }) => choose(name)}
          empty={text.noConnectors}
          emptyAbout={text.noConnectorsAbout}
        />
      </Card>
      <Overlay isOpen={opened() !== undefined} look="drawer" title={text.connector} onClose={() => choose(null)}>
        <Show when={opened()?.name} keyed>
          {(name) => (
            <Show when={siem.data()?.connectors.find((one) => one.name === name)}>
              {(one) => <ConnectorDetails of={one()} onDone={() => void siem.reload()} />}
            </Show>
          )}
        </Show>
      </Overlay>
    </>
  );
}
