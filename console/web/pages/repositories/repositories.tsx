// Repositories: code of applications that is kept, and scanned again.
import type { JSX } from 'solid-js';
import { call, type Body, type Item, type Query } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Foreign, PageHead } from '../../kit/basics.js';
import { useFilters } from '../../kit/filter-bar.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import type { TableColumn } from '../../kit/table/table.js';
import { repositoriesText as text } from '../../texts/vm/sources/repositories.js';
import { NeedsApplication } from '../vulnerabilities/application/needed.js';
import { createApplications, type Applications } from '../vulnerabilities/words.js';
import { Snapshots } from './snapshots.js';

type Repository = Item<'GET /api/v1/repositories'>;
/** Beside what is sent: whether the credential that is there is to go. */
type NewRepository = Required<Body<'POST /api/v1/repositories'>> & { forget: boolean };
type Filter = Omit<Query<'GET /api/v1/repositories'>, 'cursor' | 'limit'>;

const columnsOf = (applications: Applications): readonly TableColumn<Repository>[] => [
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name ?? ''} max={120} /> },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={80} /> },
  { title: text.defaultBranch, cell: (one) => <Foreign text={one.default_branch ?? ''} max={80} /> },
  { title: text.added, class: 'nums', cell: ({ created_at: at }) => showMoment(at, true) },
];

const fieldsOf = (applications: Applications, isNew: boolean): readonly RowField<NewRepository>[] => [
  {
    name: 'application_id',
    kind: 'select',
    label: text.application,
    help: text.applicationHelp,
    options: () => applications.options(text.choose),
    isRequired: true,
    isOnce: true,
  },
  { name: 'name', kind: 'text', label: text.name, help: text.nameHelp, isRequired: true },
  { name: 'url', kind: 'text', label: text.url, help: text.urlHelp },
  { name: 'default_branch', kind: 'text', label: text.defaultBranch, isRequired: true },
  { name: 'directory', kind: 'text', label: text.directory, help: text.directoryHelp },
  { name: 'credential_user', kind: 'text', label: text.credentialUser, help: text.credentialUserHelp },
  { name: 'credential', kind: 'password', label: text.credential, help: text.credentialHelp },
  ...(isNew ? [] : [{ name: 'forget', kind: 'switch', label: text.forget } as const]),
  { name: 'description', kind: 'area', label: text.description },
];

/** What is sent: a credential only where one was written, or none where it is to go. */
function bodyOf({ forget, credential, url, ...given }: NewRepository) {
  const sent = forget ? { credential: null } : credential === null || credential === '' ? {} : { credential };
  return { ...given, ...sent, url: url === '' ? null : url };
}

function RepositoryForm(props: {
  readonly of: Repository | null;
  readonly applications: Applications;
  readonly application: string;
  readonly onSaved: (saved: ResourceRow) => void;
}): JSX.Element {
  const { of } = props;
  const start = {
    application_id: props.application,
    name: of?.name ?? '',
    url: of?.url ?? '',
    default_branch: of?.default_branch ?? 'main',
    directory: of?.directory ?? '',
    credential_user: of?.credential_user ?? '',
    credential: '',
    forget: false,
    description: of?.description ?? '',
  };
  return (
    <RowForm
      fields={fieldsOf(props.applications, of === null)}
      start={start as NewRepository}
      isNew={of === null}
      save={(given) => {
        const body = bodyOf(given);
        return of === null
          ? call('POST /api/v1/repositories', { body })
          : call('PATCH /api/v1/repositories/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) });
      }}
      onSaved={props.onSaved}
    />
  );
}

export function Repositories(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const filters = useFilters(['q', 'application_id']);
  const list = createPagedList('GET /api/v1/repositories', () => ({ ...filters(), sort: 'name' }) as Filter);
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <ResourceList
        text={{
          list: text.title,
          one: text.repository,
          add: text.newRepository,
          none: text.none,
          noneAbout: text.noneAbout,
          deleteTitle: text.deleteTitle,
          deleteAbout: text.deleteAbout,
        }}
        param="repository"
        mayEdit={access.may('run_code_scans')}
        list={list}
        columns={columnsOf(applications)}
        filters={[
          { name: 'q', label: text.words },
          {
            name: 'application_id',
            label: text.application,
            options: () => applications.options(text.anyApplication),
          },
        ]}
        nameOf={({ name }) => name}
        facts={(row) => [
          [text.application, <Foreign text={applications.nameOf(row.application_id)} />],
          [text.url, <Foreign text={row.url ?? '–'} max={300} />],
          [text.defaultBranch, <Foreign text={row.default_branch ?? ''} />],
          [text.directory, <Foreign text={row.directory || '–'} max={300} />],
          [text.description, <Foreign text={row.description ?? '–'} max={500} />],
        ]}
        more={(row) => (
          <Snapshots id={row().id} mayRun={access.may('run_code_scans')} mayRunKubernetes={access.may('edit_k8s')} />
        )}
        form={(of, onSaved) => (
          <>
            <NeedsApplication applications={applications} text={text.firstApplication} />
            <RepositoryForm
              of={of}
              applications={applications}
              application={of?.application_id ?? filters()['application_id'] ?? ''}
              onSaved={onSaved}
            />
          </>
        )}
        read={(id) => createQuery('GET /api/v1/repositories/{id}', () => ({ params: { id } }))}
        remove={({ id }) => call('DELETE /api/v1/repositories/{id}', { params: { id } })}
      />
    </>
  );
}
