// Reports of scanners: sent from here, tried before that, and what became of those that came.
import { A, useSearchParams } from '@solidjs/router';
import { Match, Show, Switch, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess, type VmAccess } from '../../client/vm-access.js';
import { Badge, Foreign, PageHead, Tabs } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { mappingsText } from '../../texts/vm/sources/mappings.js';
import { tokensText } from '../../texts/vm/tokens.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { Jobs } from './import/jobs.js';
import { ImportUndo } from './import/undo.js';
import { Upload } from './import/upload.js';
import { ImportCounts, type ImportReport } from './import/counts.js';
import { Mappings } from './mapping/mappings.js';
import { createApplications, findingsOf, plain, type Applications } from './words.js';

type Import = Item<'GET /api/v1/imports'>;

const reportOf = ({ report }: Pick<Import, 'report'>): ImportReport => (report ?? {}) as ImportReport;

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

type TabName = 'imports' | 'jobs' | 'mappings';

/** Also one that the list has not read: other pages lead to imports of any age. */
function OneImport(props: {
  readonly id: string;
  readonly mayUndo: boolean;
  readonly onUndone: () => void;
}): JSX.Element {
  const one = createQuery('GET /api/v1/imports/{id}', () => ({ params: { id: props.id } }));
  return (
    <Read of={one}>
      {(found) => (
        <>
          <ImportCounts of={reportOf(found())} />
          <A href={findingsOf(found().application_id ?? '')}>{text.seeFindings}</A>
          <Show when={props.mayUndo}>
            <ImportUndo id={found().id} onUndone={props.onUndone} />
          </Show>
        </>
      )}
    </Read>
  );
}

function List(props: { readonly applications: Applications; readonly access: VmAccess }): JSX.Element {
  const list = createPagedList('GET /api/v1/imports', () => ({}));
  const [chosen, choose] = createChosen('import');
  return (
    <>
      <Show when={props.access.may('import_findings')}>
        <Upload applications={props.applications} onImported={list.reload} />
      </Show>
      <ListCard
        label={text.imports}
        columns={columnsOf(props.applications)}
        title={text.imports}
        list={list}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.noImports}
        emptyAbout={text.noImportsAbout}
      />
      <Overlay
        isOpen={chosen() !== null}
        look="wide"
        title={text.importOf(chosen() ?? '')}
        onClose={() => choose(null)}
      >
        <Show when={chosen()} keyed>
          {(id) => (
            <OneImport
              id={id}
              mayUndo={props.access.may('import_findings')}
              onUndone={() => {
                choose(null);
                list.reload();
              }}
            />
          )}
        </Show>
      </Overlay>
    </>
  );
}

export function Imports(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const [search, setSearch] = useSearchParams();
  const tabs = (): readonly (readonly [TabName, string])[] => [
    ['imports', text.imports],
    ['mappings', mappingsText.mappings],
    ...(access.may('view_scans') ? [['jobs', tokensText.jobs] as const] : []),
  ];
  const tab = (): TabName => tabs().find(([name]) => name === search['view'])?.[0] ?? 'imports';
  return (
    <>
      <PageHead title={text.imports} about={text.importsAbout} />
      <Tabs label={text.imports} tabs={tabs()} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'jobs'}>
          <Jobs applications={applications} />
        </Match>
        <Match when={tab() === 'mappings'}>
          <Mappings mayEdit={access.may('import_findings')} />
        </Match>
        <Match when={tab() === 'imports'}>
          <List applications={applications} access={access} />
        </Match>
      </Switch>
    </>
  );
}
