// Schedules: what runs by the clock, when it runs next, and what became of it the last time.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Query } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Foreign, Notice, PageHead, type Tone } from '../../kit/basics.js';
import { useFilters } from '../../kit/filter-bar.js';
import { tell } from '../../kit/overlays.js';
import { ResourceList } from '../../kit/resource/resource-list.js';
import type { TableColumn } from '../../kit/table/table.js';
import { schedulesText as text } from '../../texts/vm/sources/schedules.js';
import { kindsOf, ScheduleForm, type Schedule } from './schedule-form.js';

type Filter = Omit<Query<'GET /api/v1/schedules'>, 'cursor' | 'limit'>;

const outcomeTones: Readonly<Record<NonNullable<Schedule['last_outcome']>, Tone>> = {
  started: 'good',
  refused: 'danger',
  overlapped: 'warn',
  missed: 'warn',
};

const kindOf = ({ kind }: Schedule): string => (kind === null ? '–' : text.kinds[kind]);
const nextOf = ({ next_run_at: at }: Schedule): string => (at === null ? '–' : showMoment(at));

function Last(props: { readonly of: Schedule }): JSX.Element {
  return (
    <Show when={props.of.last_outcome} fallback={text.never}>
      {(outcome) => <Badge tone={outcomeTones[outcome()]}>{text.outcomes[outcome()]}</Badge>}
    </Show>
  );
}

const State = (props: { readonly of: Schedule }): JSX.Element => (
  <Badge tone={props.of.enabled === true ? 'good' : 'neutral'}>
    {props.of.enabled === true ? text.active : text.paused}
  </Badge>
);

const columns: readonly TableColumn<Schedule>[] = [
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.kind, cell: kindOf },
  { title: text.cron, class: 'mono', cell: ({ cron, timezone }) => `${cron ?? ''} ${timezone ?? ''}` },
  { title: text.state, cell: (one) => <State of={one} /> },
  { title: text.next, class: 'nums', cell: nextOf },
  { title: text.last, cell: (one) => <Last of={one} /> },
];

function Doing(props: { readonly of: Schedule; readonly keep: (stored: Promise<boolean>) => void }): JSX.Element {
  const action = createAction();
  const params = () => ({ params: { id: props.of.id } });
  const act = (work: () => Promise<unknown>): void => props.keep(action.run(work));
  const runNow = (): void =>
    act(async () => tell(text.begun((await call('POST /api/v1/schedules/{id}/run-now', params())).id)));
  return (
    <>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div class="row wrap">
        <Show
          when={props.of.enabled === true}
          fallback={
            <Button
              isBusy={action.isBusy()}
              onClick={() => act(() => call('POST /api/v1/schedules/{id}/resume', params()))}
            >
              {text.resume}
            </Button>
          }
        >
          <Button
            isBusy={action.isBusy()}
            onClick={() => act(() => call('POST /api/v1/schedules/{id}/pause', params()))}
          >
            {text.pause}
          </Button>
        </Show>
        <Button isBusy={action.isBusy()} onClick={runNow}>
          {text.runNow}
        </Button>
      </div>
    </>
  );
}

const runOf = ({ kind, last_run_id: id }: Schedule): string =>
  kind === 'report'
    ? '/vulnerabilities/reports'
    : kind === 'exploit'
      ? `/vulnerabilities/exploit-runs?run=${id ?? ''}`
      : `/vulnerabilities/scans?scan=${id ?? ''}`;

export function Schedules(): JSX.Element {
  const access = createVmAccess();
  const filters = useFilters(['q', 'kind']);
  const list = createPagedList('GET /api/v1/schedules', () => ({ ...filters(), sort: 'name' }) as Filter);
  const mayEdit = (): boolean => access.may('manage_schedules');
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <ResourceList
        text={{
          ...{ list: text.title, one: text.one, add: text.add, none: text.none, noneAbout: text.noneAbout },
          ...{ deleteTitle: text.deleteTitle, deleteAbout: text.deleteAbout },
        }}
        param="schedule"
        mayEdit={mayEdit()}
        list={list}
        columns={columns}
        filters={[
          { name: 'q', label: text.words },
          { name: 'kind', label: text.kind, options: () => [['', text.anyKind], ...kindsOf()] },
        ]}
        nameOf={({ name }) => name}
        facts={(row) => [
          [text.kind, kindOf(row)],
          [text.cron, `${row.cron ?? ''} ${row.timezone ?? ''}`],
          [text.state, <State of={row} />],
          [text.next, nextOf(row)],
          [text.last, <Last of={row} />],
          ['', <Foreign text={row.last_reason ?? ''} max={500} />],
          [text.owner, <Foreign text={row.owner ?? '–'} max={100} />],
        ]}
        more={(row, keep) => (
          <div class="stack">
            <Show when={row().last_run_id !== null && row().kind !== 'feed'}>
              <A href={runOf(row())}>{text.seeRun}</A>
            </Show>
            <Show when={mayEdit()}>
              <Doing of={row()} keep={keep} />
            </Show>
          </div>
        )}
        form={(of, onSaved) => <ScheduleForm of={of} onSaved={onSaved} />}
        read={(id) => createQuery('GET /api/v1/schedules/{id}', () => ({ params: { id } }))}
        remove={({ id }) => call('DELETE /api/v1/schedules/{id}', { params: { id } })}
      />
    </>
  );
}
