// Applications: what findings belong to. Each opens with its numbers, which open the findings that they count.
import { A, useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, For, Show, type JSX } from 'solid-js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { createAsked } from '../../kit/asked.js';
import { Badge, Button, Figure, Foreign, PageHead, Pairs, type Tone } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { showCount } from '../../client/moments.js';
import { assetsText } from '../../texts/vm/assets.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { ApplicationForm } from './application-form.js';
import { importText } from '../../texts/vm/records/deduplications.js';
import { ImportApplications } from './application/import.js';
import { Projects } from './application/projects.js';
import { Removal } from './application/removal.js';
import { SiteLink } from './application/site-link.js';
import { findingsOf, severities, type Application } from './words.js';

const tones: Readonly<Record<string, Tone>> = { critical: 'danger', high: 'warn', internet: 'warn' };
const toneOf = (word: string | null): Tone => tones[word ?? ''] ?? 'neutral';

const columns: readonly TableColumn<Application>[] = [
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name} max={100} /> },
  {
    title: text.environment,
    sortBy: ({ environment }) => environment,
    cell: ({ environment }) => <Foreign text={environment} max={60} />,
  },
  {
    title: text.criticality,
    cell: ({ business_criticality: word }) => <Badge tone={toneOf(word)}>{word ?? '–'}</Badge>,
  },
  { title: text.exposure, cell: ({ exposure }) => <Badge tone={toneOf(exposure)}>{exposure ?? '–'}</Badge> },
  { title: text.owner, sortBy: ({ owner }) => owner, cell: ({ owner }) => <Foreign text={owner} max={80} /> },
  { title: assetsText.site, cell: ({ site }) => <Foreign text={site ?? '–'} max={60} /> },
  { title: text.tags, cell: ({ tags }) => <Foreign text={(tags ?? []).join(', ')} max={120} /> },
];

/** Each number opens the list that it counts. */
function Numbers(props: { readonly id: string }): JSX.Element {
  const summary = createQuery('GET /api/v1/applications/{id}/summary', () => ({ params: { id: props.id } }));
  return (
    <Read of={summary}>
      {(data) => (
        <section class="stack">
          <h3>{text.openFindings}</h3>
          <div class="grid grid-4">
            <For each={severities}>
              {(severity) => (
                <Figure
                  label={text.ofSeverity(severity)}
                  value={showCount(data().open[severity] ?? 0)}
                  href={findingsOf(props.id, severity)}
                />
              )}
            </For>
            <Figure
              label={text.highestRisk}
              value={String(data().max_risk)}
              href={`${findingsOf(props.id)}&sort=-risk`}
            />
          </div>
        </section>
      )}
    </Read>
  );
}

function Facts(props: { readonly of: Application }): JSX.Element {
  return (
    <Pairs
      of={[
        [text.name, <Foreign text={props.of.name} />],
        [text.environment, <Foreign text={props.of.environment} />],
        [text.criticality, props.of.business_criticality ?? '–'],
        [text.exposure, props.of.exposure ?? '–'],
        [text.owner, <Foreign text={props.of.owner} />],
        [assetsText.site, <Foreign text={props.of.site ?? '–'} />],
        [text.tags, <Foreign text={(props.of.tags ?? []).join(', ')} />],
      ]}
    />
  );
}

function Opened(props: {
  readonly id: string;
  readonly mayEdit: boolean;
  readonly onSaved: () => void;
  readonly onRemoved: () => void;
}): JSX.Element {
  const one = createQuery('GET /api/v1/applications/{id}', () => ({ params: { id: props.id } }));
  const [isEditing, setEditing] = createSignal(false);
  const saved = (): void => {
    setEditing(false);
    void one.reload();
    props.onSaved();
  };
  return (
    <>
      <Numbers id={props.id} />
      <div class="row wrap">
        <A class="button" href={findingsOf(props.id)}>
          {text.findings}
        </A>
        <A class="button" href={`/vulnerabilities/chains?application_id=${props.id}`}>
          {text.itsChains}
        </A>
        <A class="button" href={`/vulnerabilities/components?application_id=${props.id}`}>
          {text.itsComponents}
        </A>
        <A class="button" href={`/vulnerabilities/imports?application_id=${props.id}`}>
          {text.importReport}
        </A>
        <Show when={props.mayEdit && !isEditing()}>
          <Button onClick={() => setEditing(true)}>{text.edit}</Button>
        </Show>
      </div>
      <Read of={one}>
        {(data) => (
          <>
            <Show when={isEditing()} fallback={<Facts of={data()} />}>
              <ApplicationForm of={data()} onSaved={saved} />
            </Show>
            <Show when={props.mayEdit && !isEditing()}>
              <SiteLink of={data()} onSaved={saved} />
              <div>
                <Removal of={data()} onRemoved={props.onRemoved} />
              </div>
            </Show>
          </>
        )}
      </Read>
    </>
  );
}

export function Applications(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const [isAdding, setAdding] = createAsked('add');
  const access = createVmAccess();
  const words = createMemo(() => (typeof search['q'] === 'string' ? search['q'] : ''));
  const [chosen, choose] = createChosen('application');
  const list = createPagedList('GET /api/v1/applications', () => ({ ...(words() === '' ? {} : { q: words() }) }));
  const close = (): void => choose(null);
  const [areProjects, showProjects] = createAsked('projects');
  const [isImporting, setImporting] = createAsked('import');
  const mayEdit = (): boolean => access.may('edit_assets');
  const removed = (): void => {
    choose(null);
    list.reload();
  };
  return (
    <>
      <PageHead title={text.applications} about={text.applicationsAbout}>
        <input
          class="input"
          aria-label={text.searchApplications}
          placeholder={text.nameOrOwner}
          value={words()}
          onInput={(event) => setSearch({ q: event.currentTarget.value }, { replace: true })}
        />
        <Button onClick={() => showProjects(true)}>{assetsText.projects}</Button>
        <Show when={mayEdit()}>
          <Button onClick={() => setImporting(true)}>{importText.title}</Button>
          <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
            {text.newApplication}
          </Button>
        </Show>
      </PageHead>
      <ListCard
        label={text.applications}
        columns={columns}
        list={list}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.noApplications}
        emptyAbout={text.noApplicationsAbout}
      />
      <Overlay isOpen={chosen() !== null} look="drawer" title={text.application} onClose={close}>
        <Show when={chosen()} keyed>
          {(id) => <Opened id={id} mayEdit={mayEdit()} onSaved={list.reload} onRemoved={removed} />}
        </Show>
      </Overlay>
      <Overlay
        isOpen={isImporting() && mayEdit()}
        look="wide"
        title={importText.title}
        onClose={() => setImporting(false)}
      >
        <ImportApplications onDone={list.reload} />
      </Overlay>
      <Overlay isOpen={areProjects()} look="wide" title={assetsText.projects} onClose={() => showProjects(false)}>
        <Projects mayEdit={mayEdit()} />
      </Overlay>
      <Overlay isOpen={isAdding() && mayEdit()} title={text.newApplication} onClose={() => setAdding(false)}>
        <ApplicationForm of={null} onSaved={() => (setAdding(false), list.reload())} />
      </Overlay>
    </>
  );
}
