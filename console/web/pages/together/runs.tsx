// Deduplication over what is stored: tried, run and undone, an application at a time.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Button, Card, Notice } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { deduplicationsText as text } from '../../texts/vm/records/deduplications.js';
import { createApplications } from '../vulnerabilities/words.js';

type Run = Item<'GET /api/v1/findings/deduplications'>;
const confidences = Object.entries(text.confidences).sort(([left], [right]) => Number(right) - Number(left));

const numberIn = ({ result }: Run, name: string): number => Number((result as Record<string, unknown>)[name] ?? 0);
const isTrial = ({ result }: Run): boolean => (result as Record<string, unknown>)['dry_run'] === true;
const kindOf = (run: Run): string =>
  run.kind === 'dedup.undo' ? text.kinds.undo : isTrial(run) ? text.kinds.trial : text.kinds.run;

function resultOf(run: Run): string {
  if (run.status !== 'succeeded') return run.error ?? '–';
  if (run.kind === 'dedup.undo') return text.undone(numberIn(run, 'undone'), numberIn(run, 'kept'));
  return text.merged(numberIn(run, 'duplicates'), numberIn(run, 'clusters'));
}

const columns: readonly TableColumn<Run>[] = [
  { title: text.number, isNumber: true, cell: ({ id }) => id },
  { title: text.kind, cell: kindOf },
  { title: text.state, cell: ({ status }) => status },
  { title: text.result, cell: resultOf },
  { title: text.at, cell: ({ created_at: at }) => showMoment(at) },
];

function Beginning(props: {
  readonly application: string;
  readonly onApplication: (id: string) => void;
  readonly mayTriage: boolean;
  readonly onBegun: () => void;
}): JSX.Element {
  const applications = createApplications();
  const [confidence, setConfidence] = createSignal('0.8');
  const action = createAction();
  const begin = async (isOnlyTried: boolean): Promise<void> => {
    const about = { application_id: props.application, min_confidence: Number(confidence()) };
    const body = { ...about, dry_run: isOnlyTried };
    if (await action.run(() => call('POST /api/v1/findings/deduplications', { body }))) props.onBegun();
  };
  const isIdle = (): boolean => props.application === '';
  return (
    <Card>
      <div class="stack">
        <p class="muted">{text.about}</p>
        <div class="narrow-grid">
          <SelectField
            label={text.application}
            value={props.application}
            options={applications.options(text.choose)}
            onChange={props.onApplication}
          />
          <SelectField label={text.confidence} value={confidence()} options={confidences} onChange={setConfidence} />
        </div>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Show when={props.mayTriage}>
          <div class="row wrap">
            <Button isBusy={action.isBusy()} disabled={isIdle()} onClick={() => void begin(true)}>
              {text.tryIt}
            </Button>
            <Button look="primary" isBusy={action.isBusy()} disabled={isIdle()} onClick={() => void begin(false)}>
              {text.run}
            </Button>
          </div>
        </Show>
      </div>
    </Card>
  );
}

export function Deduplications(props: { readonly mayTriage: boolean }): JSX.Element {
  const [application, setApplication] = createSignal('');
  const list = createPagedList('GET /api/v1/findings/deduplications', () =>
    application() === '' ? {} : { application_id: application() },
  );
  const action = createAction();
  const begun = (): void => {
    tell(text.begun);
    list.reload();
  };
  const undo = async (id: string): Promise<void> => {
    const options = { params: { id } };
    if (await action.run(() => call('POST /api/v1/findings/deduplications/{id}/undo', options))) begun();
  };
  const withUndo = (): readonly TableColumn<Run>[] => [
    ...columns,
    {
      title: text.undo,
      cell: (run) => (
        <Show when={run.kind === 'dedup' && !isTrial(run) && numberIn(run, 'duplicates') > 0} fallback="–">
          <Button isSmall aria-label={text.undoOne(run.id)} onClick={() => void undo(run.id)}>
            {text.undo}
          </Button>
        </Show>
      ),
    },
  ];
  return (
    <div class="stack">
      <Beginning
        application={application()}
        onApplication={setApplication}
        mayTriage={props.mayTriage}
        onBegun={begun}
      />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <ListCard
        title={text.title}
        label={text.title}
        list={list}
        columns={props.mayTriage ? withUndo() : columns}
        keyOf={({ id }) => id}
        empty={text.noRuns}
      />
    </div>
  );
}
