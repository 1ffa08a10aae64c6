// Images of containers that were looked at, and Dockerfiles before they are built.
import { useSearchParams } from '@solidjs/router';
import { createEffect, createSignal, Match, onCleanup, Show, Switch, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item, type Query } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Card, Foreign, Notice, PageHead, Tabs } from '../../kit/basics.js';
import { AddressFilters } from '../../kit/fields/address-filters.js';
import { useFilters } from '../../kit/filter-bar.js';
import { FileField, SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { imagesText as text } from '../../texts/vm/sources/images.js';
import { createApplications, plain, type Applications } from '../vulnerabilities/words.js';
import { Dockerfile } from './dockerfile.js';
import { ImageDrawer } from './image-drawer.js';

type Image = Item<'GET /api/v1/containers/images'>;
type Filter = Omit<Query<'GET /api/v1/containers/images'>, 'cursor' | 'limit'>;
const refreshMs = 3000;
const isOpen = ({ run_status: status }: Image): boolean => status === 'queued' || status === 'running';

function AddForm(props: { readonly applications: Applications; readonly onBegun: () => void }): JSX.Element {
  const [application, setApplication] = createSignal('');
  const [name, setName] = createSignal('');
  const [file, setFile] = createSignal<File | null>(null);
  const action = createAction();
  const add = async (): Promise<void> => {
    const chosen = file();
    if (chosen === null) return;
    const form = new FormData();
    form.set('application_id', application());
    if (name().trim() !== '') form.set('name', name().trim());
    form.set('file', chosen);
    const isDone = await action.run(async () => {
      const image = await call('POST /api/v1/containers/images', { form });
      tell(text.begun(image.name));
    });
    if (isDone) props.onBegun();
  };
  return (
    <Card title={text.add}>
      <div class="stack">
        <div class="grid grid-3">
          <SelectField
            label={text.application}
            value={application()}
            options={props.applications.options(text.choose)}
            onChange={setApplication}
          />
          <FileField label={text.file} help={text.fileHelp} onChosen={setFile} />
          <TextField label={text.name} value={name()} onInput={setName} help={text.nameHelp} />
        </div>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button
            look="primary"
            isBusy={action.isBusy()}
            disabled={application() === '' || file() === null}
            onClick={() => void add()}
          >
            {text.add}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const Looked = (props: { readonly of: Image }): JSX.Element => (
  <Show when={props.of.complete !== null} fallback={<Badge>{plain(props.of.run_status ?? '–')}</Badge>}>
    <Badge tone={props.of.complete === true ? 'good' : 'warn'}>
      {props.of.complete === true ? text.complete : text.incomplete}
    </Badge>
  </Show>
);

const columnsOf = (applications: Applications): readonly TableColumn<Image>[] => [
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.tags, cell: ({ tags }) => <Foreign text={tags.join(', ') || '–'} max={120} /> },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={80} /> },
  { title: text.distribution, cell: ({ distribution: of }) => <Foreign text={of || '–'} max={60} /> },
  { title: text.packages, isNumber: true, cell: ({ packages }) => showCount(packages) },
  { title: text.looked, cell: (one) => <Looked of={one} /> },
  { title: text.when, class: 'nums', cell: ({ updated_at: at }) => showMoment(at) },
];

function ImageList(props: {
  readonly applications: Applications;
  readonly mayAdd: boolean;
  readonly mayFindings: boolean;
}) {
  const filters = useFilters(['q', 'application_id']);
  const list = createPagedList('GET /api/v1/containers/images', () => filters() as Filter);
  const [chosen, choose] = createChosen('image');
  createEffect(() => {
    if (!list.items().some(isOpen)) return;
    const timer = setTimeout(list.reload, refreshMs);
    onCleanup(() => clearTimeout(timer));
  });
  return (
    <>
      <Show when={props.mayAdd}>
        <AddForm applications={props.applications} onBegun={list.reload} />
      </Show>
      <AddressFilters
        of={[
          { name: 'q', label: text.words },
          {
            name: 'application_id',
            label: text.application,
            options: () => props.applications.options(text.anyApplication),
          },
        ]}
      />
      <ListCard
        label={text.title}
        list={list}
        columns={columnsOf(props.applications)}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.none}
        emptyAbout={text.noneAbout}
      />
      <ImageDrawer
        id={chosen()}
        applications={props.applications}
        mayFindings={props.mayFindings}
        onClose={() => choose(null)}
      />
    </>
  );
}

const tabs = [
  ['images', text.view.images],
  ['dockerfile', text.view.dockerfile],
] as const;

export function Images(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const [search, setSearch] = useSearchParams();
  const tab = () => tabs.find(([name]) => name === search['view'])?.[0] ?? 'images';
  const shown = () => (access.may('run_code_scans') ? tabs : tabs.slice(0, 1));
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs label={text.views} tabs={shown()} chosen={tab()} onChoose={(view) => setSearch({ view, image: '' })} />
      <Switch>
        <Match when={tab() === 'dockerfile'}>
          <Dockerfile />
        </Match>
        <Match when={tab() === 'images'}>
          <ImageList
            applications={applications}
            mayAdd={access.may('import_findings')}
            mayFindings={access.may('view_findings')}
          />
        </Match>
      </Switch>
    </>
  );
}
