import type { JSX } from 'solid-js';
import { call, type Body, type Item, type Query } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Foreign } from '../../kit/basics.js';
import { useFilters } from '../../kit/filter-bar.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import type { TableColumn } from '../../kit/table/table.js';
import { targetsText as text } from '../../texts/resources/targets.js';
import { activeText as scans } from '../../texts/vm/sources/active-scans.js';
import { exploitRunsText as exploits } from '../../texts/vm/sources/exploit-runs.js';
import { NeedsApplication } from '../vulnerabilities/application/needed.js';
import type { Applications } from '../vulnerabilities/words.js';
import { Verification } from './verification.js';

export type Target = Item<'GET /api/v1/targets'>;
type NewTarget = Required<Body<'POST /api/v1/targets'>>;
type Filter = Omit<Query<'GET /api/v1/targets'>, 'cursor' | 'limit'>;

const kinds = [
  ['web', text.web],
  ['api', text.api],
] as const;
const nameOfKind = (kind: Target['kind']): string => kinds.find(([word]) => word === kind)?.[1] ?? '–';

const columnsOf = (applications: Applications): readonly TableColumn<Target>[] => [
  { title: text.url, sortBy: ({ url }) => url, cell: ({ url }) => <Foreign text={url} max={200} /> },
  { title: text.kind, sortBy: ({ kind }) => kind, cell: ({ kind }) => <Badge>{nameOfKind(kind)}</Badge> },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={80} /> },
  { title: text.added, class: 'nums', cell: ({ created_at: at }) => showMoment(at, true) },
];

const fieldsOf = (applications: Applications): readonly RowField<NewTarget>[] => [
  {
    name: 'application_id',
    kind: 'select',
    label: text.application,
    help: text.applicationHelp,
    options: () => applications.options(text.choose),
    isRequired: true,
    isOnce: true,
  },
  { name: 'url', kind: 'url', label: text.url, help: text.urlHelp, isRequired: true },
  { name: 'kind', kind: 'select', label: text.kind, options: () => kinds },
  { name: 'waf_url', kind: 'url', label: scans.wafUrl, help: scans.wafUrlHelp },
  { name: 'exploit_writes', kind: 'switch', label: exploits.allowWrites },
];

function TargetForm(props: {
  readonly of: Target | null;
  readonly applications: Applications;
  /** Chosen already: the one that the list is narrowed down to. */
  readonly application: string;
  readonly onSaved: (saved: ResourceRow) => void;
}): JSX.Element {
  const { of } = props;
  const start = {
    application_id: props.application,
    url: of?.url ?? '',
    kind: of?.kind ?? 'web',
    waf_url: of?.waf_url ?? '',
    exploit_writes: of?.exploit_writes ?? false,
  } as const;
  return (
    <RowForm
      fields={fieldsOf(props.applications)}
      start={start as NewTarget}
      isNew={of === null}
      save={(given) => {
        const body = { ...given, waf_url: given.waf_url === '' ? null : given.waf_url };
        return of === null
          ? call('POST /api/v1/targets', { body })
          : call('PATCH /api/v1/targets/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) });
      }}
      onSaved={props.onSaved}
    />
  );
}

export function TargetList(props: {
  readonly applications: Applications;
  readonly mayEdit: boolean;
  readonly mayRun: boolean;
}): JSX.Element {
  const filters = useFilters(['q', 'kind', 'application_id']);
  const list = createPagedList('GET /api/v1/targets', () => ({ ...filters(), sort: 'url' }) as Filter);
  return (
    <ResourceList
      text={{
        list: text.targets,
        one: text.target,
        add: text.newTarget,
        none: text.noTargets,
        noneAbout: text.noTargetsAbout,
        deleteTitle: text.deleteTarget,
        deleteAbout: text.deleteTargetAbout,
      }}
      param="target"
      mayEdit={props.mayEdit}
      list={list}
      columns={columnsOf(props.applications)}
      filters={[
        { name: 'q', label: text.words },
        { name: 'kind', label: text.kind, options: () => [['', text.anyKind], ...kinds] },
        {
          name: 'application_id',
          label: text.application,
          options: () => props.applications.options(text.anyApplication),
        },
      ]}
      nameOf={({ url }) => url}
      facts={(row) => [
        [text.url, <Foreign text={row.url} />],
        [text.kind, nameOfKind(row.kind)],
        [text.application, <Foreign text={props.applications.nameOf(row.application_id)} />],
        [text.added, showMoment(row.created_at)],
      ]}
      more={(row) => <Verification id={row().id} mayRun={props.mayRun} />}
      form={(of, onSaved) => (
        <>
          <NeedsApplication applications={props.applications} text={text.firstApplication} />
          <TargetForm
            of={of}
            applications={props.applications}
            application={of?.application_id ?? filters()['application_id'] ?? ''}
            onSaved={onSaved}
          />
        </>
      )}
      read={(id) => createQuery('GET /api/v1/targets/{id}', () => ({ params: { id } }))}
      remove={({ id }) => call('DELETE /api/v1/targets/{id}', { params: { id } })}
    />
  );
}
