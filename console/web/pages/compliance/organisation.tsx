// Controls of frameworks by findings, scans, checks of the firewall and attestations: for the whole organisation or for
// one application, each control opened with its evidence.
import { useSearchParams } from '@solidjs/router';
import { createMemo, For, Show, type JSX } from 'solid-js';
import { linkTo } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Figure } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { complianceText as text } from '../../texts/compliance.js';
import { createApplications, severityTone, type Applications } from '../vulnerabilities/words.js';
import { ControlStanding, standingTones, type Standing } from './control-standing.js';

type Result = Standing['result'];

const order: readonly Result[] = ['gap', 'excepted', 'no_evidence', 'manual', 'met', 'not_applicable'];

const columns: readonly TableColumn<Standing>[] = [
  { title: text.number, class: 'nums', cell: ({ number }) => number },
  { title: text.control, cell: ({ title }) => title },
  {
    title: text.openFindings,
    class: 'nums',
    sortBy: ({ open_findings: count }) => -count,
    cell: (one) => (
      <Show when={one.worst} fallback="–">
        {(worst) => (
          <span class="row">
            {one.open_findings} <Badge tone={severityTone(worst())}>{worst()}</Badge>
          </span>
        )}
      </Show>
    ),
  },
  {
    title: text.standing,
    sortBy: ({ result }) => order.indexOf(result),
    cell: ({ result }) => <Badge tone={standingTones[result]}>{text.standings[result]}</Badge>,
  },
];

const given = (value: unknown): string => (typeof value === 'string' ? value : '');

interface Scope {
  readonly framework: string;
  readonly application_id?: string;
}

/** What is assessed, what of it is shown, and the same as files. */
function Choices(props: { readonly scope: Scope; readonly applications: Applications }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const frameworks = createQuery('GET /api/v1/compliance/frameworks');
  const names = () => (frameworks.data()?.items ?? []).map((one) => [one.id, `${one.name} ${one.version}`] as const);
  return (
    <div class="row wrap">
      <SelectField
        label={text.framework}
        value={props.scope.framework}
        options={names()}
        from={frameworks}
        onChange={(id) => setSearch({ framework: id, control: '' })}
      />
      <SelectField
        label={text.application}
        value={props.scope.application_id ?? ''}
        options={props.applications.options(text.wholeOrganisation)}
        onChange={(id) => setSearch({ application: id, control: '' })}
      />
      <SelectField
        label={text.onlyWith}
        value={given(search['result'])}
        options={[['', text.everyResult], ...order.map((one) => [one, text.standings[one]] as const)]}
        onChange={(one) => setSearch({ result: one })}
      />
      <span class="row wrap">
        <span class="small muted">{text.downloads}</span>
        <For each={['csv', 'json'] as const}>
          {(format) => (
            <a
              class="button small"
              href={linkTo('GET /api/v1/compliance/export', { ...props.scope, format })}
              download=""
              aria-label={text.downloadAs(text.formats[format])}
            >
              {text.formats[format]}
            </a>
          )}
        </For>
      </span>
    </div>
  );
}

export function OrganisationReport(props: { readonly mayEdit: boolean }): JSX.Element {
  const [search] = useSearchParams();
  const applications = createApplications();
  const framework = (): string => given(search['framework']) || 'owasp-top-10-2025';
  const application = (): string => given(search['application']);
  const scope = (): Scope => ({
    framework: framework(),
    ...(application() === '' ? {} : { application_id: application() }),
  });
  const assessment = createQuery('GET /api/v1/compliance/assessment', () => ({ query: scope() }));
  const [chosen, choose] = createChosen('control');
  const result = (): string => given(search['result']);
  const rows = createMemo(() =>
    (assessment.data()?.items ?? []).filter((one) => result() === '' || one.result === result()),
  );
  const opened = (): Standing | undefined => assessment.data()?.items.find(({ control }) => control === chosen());
  return (
    <>
      <Choices scope={scope()} applications={applications} />
      <Read of={assessment}>
        {(data) => (
          <>
            <div class="grid-4">
              <For each={order.slice(0, 5)}>
                {(one) => <Figure label={text.standings[one]} value={String(data().counts[one] ?? 0)} />}
              </For>
            </div>
            <Card isFlush title={text.controls}>
              <Table
                label={text.controls}
                columns={columns}
                of={ofRows(rows)}
                keyOf={({ control }) => control}
                chosen={chosen()}
                onOpen={({ control }) => choose(control)}
                empty={text.noControls}
              />
            </Card>
          </>
        )}
      </Read>
      <Overlay isOpen={opened() !== undefined} look="drawer" title={text.control} onClose={() => choose(null)}>
        <Show when={opened()}>
          {(one) => (
            <ControlStanding
              of={one()}
              application={application()}
              mayEdit={props.mayEdit}
              onSaved={() => void assessment.reload()}
            />
          )}
        </Show>
      </Overlay>
    </>
  );
}
