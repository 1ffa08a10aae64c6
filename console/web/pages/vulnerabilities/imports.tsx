// Reports of scanners: sent from here, tried before that, and what became of those that came.
import { A, useSearchParams } from '@solidjs/router';
import { createEffect, createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Item } from '../../client/http.js';
import { showBytes, showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Card, Foreign, Notice, PageHead, Tabs } from '../../kit/basics.js';
import { Field, SelectField, TextField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { tokensText } from '../../texts/vm/tokens.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { Jobs } from './import/jobs.js';
import { ImportUndo } from './import/undo.js';
import { ImportCounts, type ImportReport } from './import/counts.js';
import { NeedsApplication } from './application/needed.js';
import { createApplications, findingsOf, plain, type Applications } from './words.js';

type Import = Item<'GET /api/v1/imports'>;

const reportOf = ({ report }: Pick<Import, 'report'>): ImportReport => (report ?? {}) as ImportReport;

interface Result {
  readonly isKept: boolean;
  readonly applicationId: string;
  readonly report: ImportReport;
}

/** What is sent: the fields first, so that the file can be read as it comes. */
function formOf(fields: Readonly<Record<string, string>>, file: File): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== '') form.set(name, value);
  form.set('file', file);
  return form;
}

function Outcome(props: { readonly of: Result }): JSX.Element {
  return (
    <Notice tone={props.of.isKept ? 'good' : 'info'} title={props.of.isKept ? text.imported : text.wouldDo}>
      <ImportCounts of={props.of.report} />
      <Show when={props.of.isKept}>
        <div>
          <A href={findingsOf(props.of.applicationId)}>{text.seeFindings}</A>
        </div>
      </Show>
    </Notice>
  );
}

function FileField(props: { readonly bytesMax: number | undefined; readonly onChosen: (file: File | null) => void }) {
  const help = (): string => (props.bytesMax === undefined ? '' : text.reportHelp(showBytes(props.bytesMax)));
  return (
    <Field label={text.report} help={help()}>
      {({ id, describedBy }) => (
        <input
          id={id}
          class="input"
          type="file"
          aria-describedby={describedBy}
          onChange={(event) => props.onChosen(event.currentTarget.files?.[0] ?? null)}
        />
      )}
    </Field>
  );
}

function FormatFields(props: {
  readonly formats: readonly { readonly name: string; readonly label: string }[];
  readonly format: string;
  readonly onFormat: (name: string) => void;
  readonly mode: string;
  readonly onMode: (mode: string) => void;
}): JSX.Element {
  return (
    <>
      <SelectField
        label={text.format}
        value={props.format}
        options={[['', text.findOut], ...props.formats.map(({ name, label }) => [name, label] as const)]}
        onChange={props.onFormat}
      />
      <SelectField
        label={text.mode}
        value={props.mode}
        options={[
          ['add', text.modeAdd],
          ['sync', text.modeSync],
        ]}
        onChange={props.onMode}
      />
    </>
  );
}

function Upload(props: { readonly applications: Applications; readonly onImported: () => void }): JSX.Element {
  const [search] = useSearchParams();
  const formats = createQuery('GET /api/v1/imports/formats');
  const [application, setApplication] = createSignal('');
  const [format, setFormat] = createSignal('');
  const [mode, setMode] = createSignal('add');
  const [branch, setBranch] = createSignal('');
  const [file, setFile] = createSignal<File | null>(null);
  const [result, setResult] = createSignal<Result | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  const [busy, setBusy] = createSignal<'import' | 'preview' | null>(null);
  const asked = (): string => (typeof search['application_id'] === 'string' ? search['application_id'] : '');
  createEffect(() => setApplication((before) => asked() || before));
  const send = async (what: 'import' | 'preview'): Promise<void> => {
    const chosen = file();
    if (chosen === null) return;
    setBusy(what);
    setProblem(null);
    setResult(null);
    const applicationId = application();
    const form = formOf({ application_id: applicationId, format: format(), mode: mode(), branch: branch() }, chosen);
    try {
      const route = what === 'import' ? 'POST /api/v1/imports' : 'POST /api/v1/imports/preview';
      const reply = await call(route, { form });
      setResult({ isKept: what === 'import', applicationId, report: reportOf(reply) });
      if (what === 'import') props.onImported();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(null);
    }
  };
  const isReady = (): boolean => application() !== '' && file() !== null && busy() === null;
  return (
    <Card title={text.importReport}>
      <div class="stack">
        <NeedsApplication applications={props.applications} text={text.firstApplication} />
        <div class="grid grid-3">
          <SelectField
            label={text.application}
            value={application()}
            options={props.applications.options(text.choose)}
            onChange={setApplication}
          />
          <FileField bytesMax={formats.data()?.bytes_max} onChosen={setFile} />
          <FormatFields
            formats={formats.data()?.items ?? []}
            format={format()}
            onFormat={setFormat}
            mode={mode()}
            onMode={setMode}
          />
          <TextField label={text.branch} value={branch()} onInput={setBranch} help={text.branchHelp} />
        </div>
        <Show when={problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="row wrap">
          <Button look="primary" isBusy={busy() === 'import'} disabled={!isReady()} onClick={() => void send('import')}>
            {text.importNow}
          </Button>
          <Button isBusy={busy() === 'preview'} disabled={!isReady()} onClick={() => void send('preview')}>
            {text.preview}
          </Button>
        </div>
        <Show when={result()}>{(done) => <Outcome of={done()} />}</Show>
      </div>
    </Card>
  );
}

const columnsOf = (applications: Applications): readonly TableColumn<Import>[] => {
  const count = (title: string, of: (report: ImportReport) => number | undefined): TableColumn<Import> => ({
    title,
    isNumber: true,
    cell: (one) => showCount(of(reportOf(one)) ?? 0),
  });
  return [
    { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
    {
      title: text.application,
      cell: ({ application_id: id }) => <Foreign text={applications.nameOf(id)} max={80} />,
    },
    {
      title: text.tool,
      cell: (one) => <Foreign text={`${reportOf(one).tool ?? ''} ${reportOf(one).tool_version ?? ''}`} max={60} />,
    },
    {
      title: text.state,
      cell: ({ status }) => <Badge tone={status === 'succeeded' ? 'good' : 'warn'}>{plain(status)}</Badge>,
    },
    count(text.read, ({ parsed }) => parsed),
    count(text.new, ({ created }) => created),
    count(text.reopened, ({ reopened }) => reopened),
    count(text.dropped, ({ dropped }) => dropped),
    count(text.resolved, ({ closed }) => closed),
    { title: text.who, cell: ({ created_by: who }) => <Foreign text={who} max={60} /> },
  ];
};

type TabName = 'imports' | 'jobs';
const tabs: readonly (readonly [TabName, string])[] = [
  ['imports', text.imports],
  ['jobs', tokensText.jobs],
];

export function Imports(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const list = createPagedList('GET /api/v1/imports', () => ({}));
  const [chosen, choose] = createChosen('import');
  const [search, setSearch] = useSearchParams();
  const tab = (): TabName => (search['view'] === 'jobs' ? 'jobs' : 'imports');
  return (
    <>
      <PageHead title={text.imports} about={text.importsAbout} />
      <Show when={access.may('view_scans')}>
        <Tabs label={text.imports} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      </Show>
      <Show when={tab() === 'jobs'}>
        <Jobs applications={applications} />
      </Show>
      <Show when={tab() === 'imports' && access.may('import_findings')}>
        <Upload applications={applications} onImported={list.reload} />
      </Show>
      <Show when={tab() === 'imports'}>
        <ListCard
          label={text.imports}
          columns={columnsOf(applications)}
          title={text.imports}
          list={list}
          keyOf={({ id }) => id}
          onOpen={({ id }) => choose(id)}
          chosen={chosen()}
          empty={text.noImports}
          emptyAbout={text.noImportsAbout}
        />
      </Show>
      <Overlay
        isOpen={chosen() !== null}
        look="wide"
        title={text.importOf(chosen() ?? '')}
        onClose={() => choose(null)}
      >
        <Show when={list.items().find(({ id }) => id === chosen())}>
          {(one) => (
            <>
              <ImportCounts of={reportOf(one())} />
              <A href={findingsOf(one().application_id ?? '')}>{text.seeFindings}</A>
              <Show when={access.may('import_findings')}>
                <ImportUndo
                  id={one().id}
                  onUndone={() => {
                    choose(null);
                    list.reload();
                  }}
                />
              </Show>
            </>
          )}
        </Show>
      </Overlay>
    </>
  );
}
