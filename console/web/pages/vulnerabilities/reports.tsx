// Reports: built of what somebody may see, kept as they were, downloaded as a file.
import { createSignal, onCleanup, Show, type JSX } from 'solid-js';
import { call, linkTo, Refused } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Button, Foreign, PageHead } from '../../kit/basics.js';
import { Confirm, tellProblem } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { reportsText } from '../../texts/vm/records/reports.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { Build } from './report/build.js';
import { Deliveries } from './report/deliveries.js';
import { SendReport, type Report } from './report/send.js';
import { VexExport } from './vex-export.js';
import { VexStatements } from './vex-statements.js';
import { createApplications, type Applications } from './words.js';

const waitingEveryMs = 10_000;

const columnsOf = (
  applications: Applications,
  may: { readonly delete: () => boolean; readonly send: () => boolean },
  on: { readonly delete: (report: Report) => void; readonly send: (report: Report) => void },
): readonly TableColumn<Report>[] => [
  { title: text.title, cell: ({ title }) => <Foreign text={title} max={200} /> },
  {
    title: text.scope,
    cell: ({ scope: { application_id: id } }) =>
      id === undefined ? text.anyApplication : <Foreign text={applications.nameOf(id)} max={80} />,
  },
  { title: text.holds, cell: ({ sections }) => sections.map((name) => name.replaceAll('-', ' ')).join(', ') },
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
      <div class="row">
        <Show when={may.send()}>
          <Button isSmall aria-label={reportsText.sendOf(report.id)} onClick={() => on.send(report)}>
            {reportsText.send}
          </Button>
        </Show>
        <Show when={may.delete()}>
          <Button isSmall onClick={() => on.delete(report)}>
            {text.delete}
          </Button>
        </Show>
      </div>
    ),
  },
];

/** A mail leaves within some seconds: what waits is looked at again. */
function createDeliveries() {
  const deliveries = createPagedList('GET /api/v1/reports/deliveries', () => ({}));
  const timer = setInterval(() => {
    if (deliveries.items().some(({ state }) => state === 'queued')) deliveries.reload();
  }, waitingEveryMs);
  onCleanup(() => clearInterval(timer));
  return deliveries;
}

export function Reports(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const list = createPagedList('GET /api/v1/reports', () => ({}));
  const deliveries = createDeliveries();
  const [asked, setAsked] = createSignal<Report | null>(null);
  const [sending, setSending] = createSignal<Report | null>(null);
  const maySend = (): boolean => access.may('send_reports');
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
        <Build
          applications={applications}
          maySchedule={maySend() && access.may('manage_schedules')}
          onBuilt={list.reload}
        />
      </Show>
      <ListCard
        label={text.reports}
        columns={columnsOf(
          applications,
          { delete: () => access.may('build_reports'), send: maySend },
          { delete: setAsked, send: setSending },
        )}
        title={text.reports}
        list={list}
        keyOf={({ id }) => id}
        empty={text.noReports}
        emptyAbout={text.noReportsAbout}
      />
      <Deliveries list={deliveries} />
      <SendReport
        of={sending()}
        onClose={() => setSending(null)}
        onSent={() => {
          setSending(null);
          deliveries.reload();
        }}
      />
      <Show when={access.may('view_findings')}>
        <VexExport applications={applications} />
        <VexStatements applications={applications} mayTriage={access.may('triage_findings')} />
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
