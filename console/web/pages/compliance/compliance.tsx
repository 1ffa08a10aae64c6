// What this installation answers to controls of PCI DSS, GDPR, SOC 2 and OWASP: figures by framework, the controls with
// their answers, each opened with its checks, evidence and the settings behind it; and the same as files. Beside it, on
// a tab, what findings and scans of applications say (organisation.tsx).
import { useSearchParams } from '@solidjs/router';
import { createMemo, For, Show, type JSX } from 'solid-js';
import { linkTo, type Query, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Card, Figure, PageHead, Tabs } from '../../kit/basics.js';
import { Switch } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { complianceText as text } from '../../texts/compliance.js';
import { ControlChecks, resultTones } from './control-checks.js';
import { OrganisationReport } from './organisation.js';

type Report = Reply<'GET /api/compliance'>;
type Framework = Report['frameworks'][number];
type Control = Framework['controls'][number];
type Result = Control['result'];
type Format = NonNullable<Query<'GET /api/compliance'>['format']>;

/** A control in the table, with the framework that asks for it. */
interface Row extends Control {
  readonly framework: Framework;
}

const ranks: readonly Result[] = ['not_satisfied', 'no_evidence', 'satisfied'];
const formats: readonly (readonly [Format, string])[] = [
  ['html', text.formats.html],
  ['csv', text.formats.csv],
  ['oscal', text.formats.oscal],
  ['json', text.formats.json],
];

const keyOf = ({ framework, id }: Row): string => `${framework.id}/${id}`;

const columns: readonly TableColumn<Row>[] = [
  { title: text.framework, cell: ({ framework }) => framework.name },
  { title: text.number, class: 'nums', cell: ({ id }) => id },
  { title: text.control, cell: ({ title }) => title },
  {
    title: text.result,
    sortBy: ({ result }) => ranks.indexOf(result),
    cell: ({ result }) => <Badge tone={resultTones[result]}>{text.results[result]}</Badge>,
  },
];

function Downloads(props: { readonly framework: Framework['id'] | null }): JSX.Element {
  const query = (format: Format): Query<'GET /api/compliance'> =>
    ({ format, ...(props.framework === null ? {} : { framework: props.framework }) }) as Query<'GET /api/compliance'>;
  return (
    <For each={formats}>
      {([format, title]) => (
        <a
          class="button small"
          href={linkTo('GET /api/compliance', query(format))}
          download=""
          aria-label={text.downloadAs(title)}
        >
          {title}
        </a>
      )}
    </For>
  );
}

function Figures(props: { readonly of: Report }): JSX.Element {
  return (
    <div class="grid-4">
      <For each={props.of.frameworks}>
        {(one) => (
          <Figure
            label={one.name}
            value={text.satisfiedOf(one.satisfied, one.controls.length)}
            note={
              <span class="row wrap">
                {text.versionOf(one.version)}
                <Badge tone={resultTones[one.result]}>{text.results[one.result]}</Badge>
              </span>
            }
            href={`/compliance?framework=${one.id}`}
          />
        )}
      </For>
    </div>
  );
}

/** Which framework, what of it, and the same as files. */
function Choices(props: { readonly framework: Framework['id'] | null }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  return (
    <div class="row wrap between">
      <span class="row wrap">
        <button
          type="button"
          class="button small"
          classList={{ primary: props.framework === null }}
          aria-pressed={props.framework === null}
          onClick={() => setSearch({ framework: '' })}
        >
          {text.all}
        </button>
        <Switch
          label={text.onlyOpen}
          isOn={search['open'] === '1'}
          onChange={(isOn) => setSearch({ open: isOn ? '1' : '' })}
        />
      </span>
      <span class="row wrap">
        <span class="small muted">{text.downloads}</span>
        <Downloads framework={props.framework} />
      </span>
    </div>
  );
}

function FirewallReport(): JSX.Element {
  const [search] = useSearchParams();
  const report = createQuery('GET /api/compliance');
  const [chosen, choose] = createChosen('control');
  const framework = (): string | null => {
    const { framework: given } = search;
    return report.data()?.frameworks.find(({ id }) => id === given)?.id ?? null;
  };
  const isOpenOnly = (): boolean => search['open'] === '1';
  const all = createMemo((): readonly Row[] =>
    (report.data()?.frameworks ?? []).flatMap((one) => one.controls.map((control) => ({ ...control, framework: one }))),
  );
  const rows = createMemo(() =>
    all().filter(
      (row) =>
        (framework() === null || row.framework.id === framework()) && (!isOpenOnly() || row.result !== 'satisfied'),
    ),
  );
  const opened = (): Row | undefined => all().find((row) => keyOf(row) === chosen());
  const asOf = ({ at, active_version: version }: Report): string =>
    version === null ? text.asOfNone(showMoment(at)) : text.asOf(showMoment(at), version);
  return (
    <>
      <Read of={report}>
        {(data) => (
          <>
            <p class="muted">
              {asOf(data())} {text.noEvidenceMeans} {text.noPaper}
            </p>
            <Figures of={data()} />
            <Choices framework={framework()} />
            <Card isFlush title={text.controls}>
              <Table
                label={text.controls}
                columns={columns}
                of={ofRows(rows)}
                keyOf={keyOf}
                chosen={chosen()}
                onOpen={(row) => choose(keyOf(row))}
                empty={text.noControls}
              />
            </Card>
          </>
        )}
      </Read>
      <Overlay isOpen={opened() !== undefined} look="drawer" title={text.control} onClose={() => choose(null)}>
        <Show when={opened()}>
          {(row) => (
            <ControlChecks
              title={`${row().framework.name} ${row().id}: ${row().title}`}
              result={row().result}
              checks={row().checks}
            />
          )}
        </Show>
      </Overlay>
    </>
  );
}

const views = [
  ['firewall', text.view.firewall],
  ['organisation', text.view.organisation],
] as const;

export function Compliance(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const view = () => views.find(([name]) => name === search['view'])?.[0] ?? 'firewall';
  return (
    <>
      <PageHead title={text.compliance} about={view() === 'firewall' ? text.about : text.organisationAbout} />
      <Show when={access.may('view_compliance')}>
        <Tabs
          label={text.views}
          tabs={views}
          chosen={view()}
          onChoose={(name) => setSearch({ view: name === 'firewall' ? '' : name, framework: '', control: '' })}
        />
      </Show>
      <Show when={view() === 'organisation'} fallback={<FirewallReport />}>
        <OrganisationReport mayEdit={access.may('edit_compliance')} />
      </Show>
    </>
  );
}
