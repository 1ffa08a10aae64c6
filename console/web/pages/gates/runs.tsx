// Runs of pipelines: what they sent, and the verdict they ended with.
import { useSearchParams } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Foreign, Pairs, type Tone } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { gatesText as text } from '../../texts/vm/gates.js';
import { plain, type Applications } from '../vulnerabilities/words.js';
import { VerdictBadge } from './verdicts.js';

type Run = Item<'GET /api/v1/ci/runs'>;

const tones: Readonly<Record<string, Tone>> = { succeeded: 'good', running: 'info', failed: 'danger' };

interface Input {
  readonly commit?: string;
  readonly branch?: string;
  readonly provider?: string;
}
const inputOf = ({ input }: Pick<Run, 'input'>): Input => (input ?? {}) as Input;

const columnsOf = (applications: Applications): readonly TableColumn<Run>[] => [
  { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
  { title: text.state, cell: ({ status }) => <Badge tone={tones[status] ?? 'neutral'}>{plain(status)}</Badge> },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={80} /> },
  { title: text.commit, class: 'mono', cell: (one) => <Foreign text={inputOf(one).commit ?? '–'} max={40} /> },
  { title: text.branch, cell: (one) => <Foreign text={inputOf(one).branch || '–'} max={60} /> },
  { title: text.pipeline, cell: (one) => <Foreign text={inputOf(one).provider || '–'} max={60} /> },
  { title: text.who, cell: ({ created_by: who }) => <Foreign text={who} max={80} /> },
];

/** One report that came with a run: its tool, and how many findings it held. */
function ReportLine(props: {
  readonly of: { readonly id: string; readonly status: string; readonly result: unknown };
}) {
  const report = (): { readonly tool?: string; readonly parsed?: number } =>
    (props.of.result as { tool?: string; parsed?: number } | null) ?? {};
  return (
    <li class="row wrap">
      <Badge tone={tones[props.of.status] ?? 'neutral'}>{plain(props.of.status)}</Badge>
      <Foreign text={report().tool ?? text.runOf(props.of.id)} max={100} />
      <span class="faint">{report().parsed ?? ''}</span>
    </li>
  );
}

function Content(props: { readonly id: string; readonly applications: Applications }): JSX.Element {
  const run = createQuery('GET /api/v1/ci/runs/{id}', () => ({ params: { id: props.id } }));
  return (
    <Read of={run}>
      {(data) => (
        <>
          <Pairs
            of={[
              [text.state, plain(data().status)],
              [text.application, <Foreign text={props.applications.nameOf(data().application_id)} />],
              [text.commit, <Foreign text={inputOf(data()).commit ?? '–'} />],
              [text.branch, <Foreign text={inputOf(data()).branch || '–'} />],
              [text.pipeline, <Foreign text={inputOf(data()).provider || '–'} />],
              [text.when, showMoment(data().created_at)],
              [
                text.verdict,
                <Show when={data().gate} fallback="–">
                  {(gate) => <VerdictBadge of={gate().verdict} />}
                </Show>,
              ],
              [text.why, <Foreign text={data().gate?.reason ?? data().error ?? '–'} max={2000} />],
            ]}
          />
          <section class="stack tight">
            <h3>{text.imports}</h3>
            <ul class="stack tight plain-list">
              <For each={data().imports} fallback={<li class="muted">{text.noReports}</li>}>
                {(one) => <ReportLine of={one} />}
              </For>
            </ul>
          </section>
        </>
      )}
    </Read>
  );
}

export function Runs(props: { readonly applications: Applications }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const [chosen, choose] = createChosen('run');
  const application = (): string => (typeof search['application_id'] === 'string' ? search['application_id'] : '');
  const list = createPagedList('GET /api/v1/ci/runs', () => {
    const of = application();
    return of === '' ? {} : { application_id: of };
  });
  return (
    <>
      <div class="narrow-grid">
        <SelectField
          label={text.application}
          value={application()}
          options={props.applications.options(text.everyApplication)}
          onChange={(id) => setSearch({ application_id: id })}
        />
      </div>
      <ListCard
        label={text.runs}
        list={list}
        columns={columnsOf(props.applications)}
        keyOf={({ id }) => id}
        chosen={chosen()}
        onOpen={({ id }) => choose(id)}
        empty={text.noRuns}
        emptyAbout={text.noRunsAbout}
      />
      <Overlay isOpen={chosen() !== null} look="drawer" title={text.runOf(chosen() ?? '')} onClose={() => choose(null)}>
        <Show when={chosen()} keyed>
          {(id) => <Content id={id} applications={props.applications} />}
        </Show>
      </Overlay>
    </>
  );
}
