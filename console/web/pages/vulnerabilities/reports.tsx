// Reports: built of what somebody may see, kept as they were, downloaded as a file.
import { createSignal, Show, type JSX } from 'solid-js';
import { call, linkTo, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Button, Card, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Confirm, tell, tellProblem } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { VexExport } from './vex-export.js';
import { createApplications, type Applications } from './words.js';

type Report = Item<'GET /api/v1/reports'>;
type Format = Report['format'];

const formats: readonly (readonly [Format, string])[] = [
  ['html', 'HTML'],
  ['pdf', 'PDF'],
  ['csv', 'CSV'],
  ['json', 'JSON'],
];

function Build(props: { readonly applications: Applications; readonly onBuilt: () => void }): JSX.Element {
  const [title, setTitle] = createSignal('');
  const [application, setApplication] = createSignal('');
  const [format, setFormat] = createSignal<Format>('pdf');
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const build = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const scope = application() === '' ? {} : { scope: { application_id: application() } };
      const named = title().trim() === '' ? {} : { title: title().trim() };
      await call('POST /api/v1/reports', { body: { ...scope, ...named, format: format() } });
      tell(text.built);
      props.onBuilt();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={text.build}>
      <div class="stack">
        <div class="grid grid-3">
          <TextField label={text.title} value={title()} onInput={setTitle} placeholder={text.chains} />
          <SelectField
            label={text.scope}
            value={application()}
            options={props.applications.options(text.anyApplication)}
            onChange={setApplication}
          />
          <SelectField label={text.format} value={format()} options={formats} onChange={setFormat} />
        </div>
        <Show when={problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button look="primary" isBusy={isBusy()} onClick={() => void build()}>
            {text.build}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const columnsOf = (
  applications: Applications,
  mayDelete: () => boolean,
  onDelete: (report: Report) => void,
): readonly TableColumn<Report>[] => [
  { title: text.title, cell: ({ title }) => <Foreign text={title} max={200} /> },
  {
    title: text.scope,
    cell: ({ scope: { application_id: id } }) =>
      id === undefined ? text.anyApplication : <Foreign text={applications.nameOf(id)} max={80} />,
  },
  { title: text.when, class: 'nums', sortBy: (one) => one.created_at, cell: (one) => showMoment(one.created_at) },
  { title: text.who, cell: ({ created_by: who }) => <Foreign text={who} max={80} /> },
  {
    title: text.file,
    cell: ({ id, format }) => (
      <a
        class="button small"
        href={linkTo('GET /api/v1/reports/{id}/download', undefined, { id })}
        download={`report-${id}.${format}`}
        aria-label={text.downloadOf(id, format)}
      >
        {text.download} {format}
      </a>
    ),
  },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (report) => (
      <Show when={mayDelete()}>
        <Button isSmall onClick={() => onDelete(report)}>
          {text.delete}
        </Button>
      </Show>
    ),
  },
];

export function Reports(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const list = createPagedList('GET /api/v1/reports', () => ({}));
  const [asked, setAsked] = createSignal<Report | null>(null);
  const remove = async (id: string): Promise<void> => {
    try {
      await call('DELETE /api/v1/reports/{id}', { params: { id } });
      setAsked(null);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  return (
    <>
      <PageHead title={text.reports} about={text.reportsAbout} />
      <Show when={access.may('build_reports')}>
        <Build applications={applications} onBuilt={list.reload} />
      </Show>
      <ListCard
        label={text.reports}
        columns={columnsOf(applications, () => access.may('build_reports'), setAsked)}
        title={text.reports}
        list={list}
        keyOf={({ id }) => id}
        empty={text.noReports}
        emptyAbout={text.noReportsAbout}
      />
      <Show when={access.may('view_findings')}>
        <VexExport applications={applications} />
      </Show>
      <Confirm
        isOpen={asked() !== null}
        title={text.deleteReport}
        action={text.delete}
        onConfirm={() => void remove(asked()?.id ?? '')}
        onClose={() => setAsked(null)}
      >
        <p>
          <Foreign text={asked()?.title} max={200} />
        </p>
        <p>{text.deleteReportAbout}</p>
      </Confirm>
    </>
  );
}
