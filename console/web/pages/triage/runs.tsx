// What the rules have done, run by run, and the way back.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Notice } from '../../kit/basics.js';
import { Confirm, tell } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { triageText as text } from '../../texts/resources/triage.js';

type Run = Item<'GET /api/v1/rules/runs'>;

const columnsOf = (mayEdit: boolean, ask: (run: Run) => void): readonly TableColumn<Run>[] => [
  { title: text.when, cell: ({ created_at: at }) => showMoment(at) },
  { title: text.cause, cell: ({ cause }) => text.causes[cause] },
  { title: text.lookedAt, cell: ({ looked_at: n }) => showCount(n) },
  { title: text.changes, cell: ({ changed }) => showCount(changed) },
  {
    title: text.result,
    cell: ({ status, kept }) => (
      <>
        <Badge tone={status === 'succeeded' ? 'good' : 'neutral'}>{text.results[status]}</Badge>{' '}
        <Show when={kept > 0}>
          <span class="muted">{text.kept(showCount(kept))}</span>
        </Show>
      </>
    ),
  },
  {
    title: '',
    cell: (run) => (
      <Show when={mayEdit && run.status === 'succeeded' && run.changed > 0}>
        <Button isSmall aria-label={text.undoRun(showMoment(run.created_at))} onClick={() => ask(run)}>
          {text.undo}
        </Button>
      </Show>
    ),
  },
];

export function RuleRuns(props: { readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/rules/runs', () => ({}));
  const [undoing, setUndoing] = createSignal<Run | null>(null);
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const apply = async (): Promise<void> => {
    const isDone = await action.run(async () => {
      const run = await call('POST /api/v1/rules/runs', {});
      tell(run.status === 'succeeded' ? text.applied(showCount(run.changed)) : text.goesOnAlone);
    });
    if (!isDone) return;
    setAsking(false);
    list.reload();
  };
  const undo = async (): Promise<void> => {
    const run = undoing();
    if (run === null) return;
    const isDone = await action.run(async () => {
      const { status } = await call('POST /api/v1/rules/runs/{id}/undo', { params: { id: run.id } });
      tell(status === 'undone' ? text.undone : text.goesOnAlone);
    });
    if (!isDone) return;
    setUndoing(null);
    list.reload();
  };
  const problem = (): JSX.Element => (
    <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
  );
  return (
    <>
      <p class="muted">{text.runsAbout}</p>
      <ListCard
        title={text.runs}
        label={text.runs}
        list={list}
        columns={columnsOf(props.mayEdit, setUndoing)}
        keyOf={({ id }) => id}
        empty={text.noRuns}
        actions={
          <Show when={props.mayEdit}>
            <Button onClick={() => setAsking(true)}>{text.apply}</Button>
          </Show>
        }
      />
      <Confirm
        isOpen={isAsking()}
        title={text.applyTitle}
        action={text.apply}
        isBusy={action.isBusy()}
        onConfirm={() => void apply()}
        onClose={() => setAsking(false)}
      >
        <p>{text.applyAbout}</p>
        {problem()}
      </Confirm>
      <Confirm
        isOpen={undoing() !== null}
        title={text.undoTitle}
        action={text.undo}
        isBusy={action.isBusy()}
        onConfirm={() => void undo()}
        onClose={() => setUndoing(null)}
      >
        <p>{text.undoAbout}</p>
        {problem()}
      </Confirm>
    </>
  );
}
