// What a version of a specification would refuse: recorded requests held against it before it is enforced.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Figure, Foreign, Notice, type Tone } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { previewText as text } from '../../texts/apis/preview.js';
import type { SchemaAction } from './named.js';

type Found = Reply<'GET /api/spec/{id}/preview'>;
type Group = Found['groups'][number];
type LiveGroup = NonNullable<Found['live']>['groups'][number];
type Hours = keyof typeof text.windows;

/** Groups that one answer holds. */
const limit = 100;
const examplesShown = 3;
const tones: Readonly<Record<SchemaAction, Tone>> = { block: 'danger', alert: 'warn', ignore: 'neutral' };

const shared: readonly TableColumn<LiveGroup>[] = [
  { title: text.operation, class: 'mono', cell: ({ operation }) => <Foreign text={operation} max={160} /> },
  { title: text.where, class: 'mono', cell: ({ pointer }) => <Foreign text={pointer} max={160} /> },
  { title: text.keyword, cell: ({ keyword }) => <Foreign text={keyword} max={60} /> },
  {
    title: text.count,
    isNumber: true,
    sortBy: ({ requests }) => requests,
    cell: ({ requests }) => showCount(requests),
  },
  {
    title: text.examples,
    cell: ({ examples }) => (
      <span class="row wrap">
        <For each={examples.slice(0, examplesShown)}>
          {(id, index) => <A href={`/requests?request_id=${encodeURIComponent(id)}`}>{text.example(index() + 1)}</A>}
        </For>
      </span>
    ),
  },
];
const columns: readonly TableColumn<Group>[] = [
  { title: text.action, cell: ({ action }) => <Badge tone={tones[action]}>{text.actions[action]}</Badge> },
  ...shared,
  { title: text.lastAt, class: 'nums', sortBy: (one) => one.last_at, cell: (one) => showMoment(one.last_at) },
];
const keyOf = (one: LiveGroup): string => JSON.stringify([one.specification, one.operation, one.pointer, one.keyword]);

function Numbers(props: { readonly of: Found }): JSX.Element {
  const requests = (): Found['requests'] => props.of.requests;
  return (
    <div class="figures-six">
      <Figure label={text.wouldFail} value={showCount(requests().would_fail)} />
      <Figure label={text.wouldRecord} value={showCount(requests().would_be_recorded)} />
      <Figure label={text.fit} value={showCount(requests().fit)} />
      <Figure label={text.undeclared} value={showCount(requests().undeclared)} />
      <Figure label={text.refusedAlready} value={showCount(requests().refused_already)} />
      <Figure
        label={text.recorded}
        value={showCount(requests().recorded)}
        note={text.recordedNote(showCount(requests().whole))}
      />
    </div>
  );
}

function Live(props: { readonly of: Found['live'] }): JSX.Element {
  return (
    <Show when={props.of} fallback={<p class="small muted">{text.noLive}</p>}>
      {(live) => (
        <Card isFlush title={text.live}>
          <div class="body">{text.liveOf(showCount(live().events), live().is_cut ? text.liveMore : '')}</div>
          <Table
            label={text.live}
            columns={shared}
            of={ofRows(() => live().groups)}
            keyOf={keyOf}
            empty={text.nothingFails}
          />
        </Card>
      )}
    </Show>
  );
}

function NotChecked(props: { readonly of: Found['not_checked'] }): JSX.Element {
  return (
    <Show when={props.of.length > 0}>
      <Notice tone="neutral" title={text.notChecked}>
        <For each={props.of}>
          {({ requests, why }) => (
            <span class="small">
              <Foreign
                text={text.notCheckedOf(requests === null ? text.ofAll : text.ofSome(showCount(requests)), why)}
                max={400}
              />
            </span>
          )}
        </For>
      </Notice>
    </Show>
  );
}

function Result(props: { readonly of: Found }): JSX.Element {
  const isEmpty = (): boolean => props.of.requests.recorded === 0;
  return (
    <>
      <Numbers of={props.of} />
      <p class="small muted">{text.met(showCount(props.of.operations.met), showCount(props.of.operations.declared))}</p>
      <Card
        isFlush
        title={text.groups}
        actions={
          <Show when={props.of.groups.length < props.of.groups_total}>
            <span class="small muted">
              {text.cut(showCount(props.of.groups.length), showCount(props.of.groups_total))}
            </span>
          </Show>
        }
      >
        <Table
          label={text.groups}
          columns={columns}
          of={ofRows(() => props.of.groups)}
          keyOf={keyOf}
          empty={isEmpty() ? text.noRequests : text.nothingFails}
          emptyAbout={isEmpty() ? text.noRequestsAbout : text.nothingFailsAbout}
        />
      </Card>
      <NotChecked of={props.of.not_checked} />
      <Live of={props.of.live} />
    </>
  );
}

function Asked(props: { readonly id: number }): JSX.Element {
  const [hours, setHours] = createSignal<Hours>('24');
  const [unknown, setUnknown] = createSignal<SchemaAction | ''>('');
  const preview = createQuery('GET /api/spec/{id}/preview', () => {
    const paths = unknown();
    const query = { hours: Number(hours()), limit, ...(paths === '' ? {} : { unknown_paths: paths }) };
    return { params: { id: props.id }, query };
  });
  return (
    <div class="stack">
      <p class="muted">{text.about}</p>
      <div class="narrow-grid">
        <SelectField
          label={text.hours}
          value={hours()}
          options={Object.entries(text.windows) as [Hours, string][]}
          onChange={setHours}
        />
        <SelectField
          label={text.unknownPaths}
          value={unknown()}
          options={[['', text.asSaved], ...(Object.entries(text.actions) as [SchemaAction, string][])]}
          onChange={setUnknown}
        />
      </div>
      <Read of={preview} what={text.reading}>
        {(data) => <Result of={data()} />}
      </Read>
    </div>
  );
}

/** Nothing is asked until somebody wants to know: thousands of requests are checked for it. */
export function Preview(props: { readonly id: number }): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  return (
    <details class="fold" open={isOpen()} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{text.title}</summary>
      <Show when={isOpen()}>
        <Asked id={props.id} />
      </Show>
    </details>
  );
}
