// The sites that are protected, each with its state and traffic; one is added in one step.
import { useSearchParams } from '@solidjs/router';
import { createMemo, onMount, Show, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import { both, createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { loadSettings, saved, settingsRead, type SettingsValues } from '../../client/settings-draft.js';
import { Button, Card, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { sitesText as text } from '../../texts/setup/sites.js';
import { SiteDrawer } from './site-drawer.js';
import { SiteFormFields } from './site-form.js';
import { siteRows, type SiteRow } from './site-rows.js';
import { CertificateCell, HealthCell, StateBadge } from './sites-cells.js';

const everyMs = 10_000;
const countEveryMs = 30_000;
const countedMax = 50;

const columns: readonly TableColumn<SiteRow>[] = [
  {
    title: text.site,
    class: 'words',
    sortBy: ({ name }) => name,
    cell: (site) => <Foreign text={site.name} max={80} />,
  },
  { title: text.state, sortBy: ({ state }) => state, cell: ({ state }) => <StateBadge of={state} /> },
  {
    title: text.reachedAt,
    class: 'mono',
    sortBy: ({ host, prefix }) => `${host ?? ''}${prefix}`,
    cell: ({ host, prefix }) => <Foreign text={`${host ?? text.anyHost} ${prefix}`} max={120} />,
  },
  { title: text.upstream, class: 'mono', isMinor: true, cell: (site) => <Foreign text={site.upstream} max={100} /> },
  {
    title: text.requests,
    isNumber: true,
    sortBy: ({ requests }) => requests ?? -1,
    cell: ({ requests }) => (requests === null ? '–' : showCount(requests)),
  },
  {
    title: text.blocked,
    isNumber: true,
    sortBy: ({ blocked }) => blocked ?? -1,
    cell: ({ blocked }) => (blocked === null ? '–' : showCount(blocked)),
  },
  { title: text.health, cell: (site) => <HealthCell of={site} /> },
  { title: text.certificate, cell: (site) => <CertificateCell of={site} /> },
];

/** Everything that the list is made of; figures that cannot be read leave the list as it is. */
function createSites() {
  const sites = createQuery('GET /api/sites', () => ({}), { everyMs });
  const nodes = createQuery('GET /api/nodes', () => ({}), { everyMs });
  const certificates = createQuery('GET /api/certificates', () => ({}), { everyMs: countEveryMs });
  const traffic = createQuery('GET /api/traffic', () => ({ query: { top: countedMax, buckets: 1 } }), {
    everyMs: countEveryMs,
  });
  const rows = createMemo(() => {
    const read = sites.data();
    if (read === undefined) return [];
    const counted = traffic.data()?.sites;
    return siteRows({
      sites: read,
      nodes: nodes.data()?.items ?? null,
      certificates: certificates.data()?.items ?? null,
      traffic: counted === undefined ? null : { sites: counted, isWhole: counted.length < countedMax },
    });
  });
  return { sites, traffic, rows };
}

function List(props: {
  readonly rows: readonly SiteRow[];
  readonly chosen: string | null;
  readonly onOpen: (name: string) => void;
}): JSX.Element {
  return (
    <Card isFlush>
      <Table
        label={text.list}
        columns={columns}
        of={ofRows(() => props.rows)}
        keyOf={({ name }) => name}
        onOpen={({ name }) => props.onOpen(name)}
        chosen={props.chosen}
        empty={text.none}
        emptyAbout={mayAs('admin') ? text.noneAbout : text.noneAboutViewer}
      />
    </Card>
  );
}

export function Sites(): JSX.Element {
  const { sites, traffic, rows } = createSites();
  const [search, setSearch] = useSearchParams();
  const [chosen, choose] = createChosen('site');
  onMount(() => void loadSettings());
  const opened = (): SiteRow | undefined => rows().find(({ name }) => name === chosen());
  const settings = (): SettingsValues => saved() ?? {};
  const defaults = () => (sites.data()?.defaults ?? []).filter(({ name }) => !name.startsWith('.'));
  const changed = (): void => void sites.reload();
  const isAdding = (): boolean =>
    search['add'] === '1' && mayAs('admin') && saved() !== null && sites.data() !== undefined;
  const closeForm = (): void => setSearch({ add: '' });
  const removed = (): void => {
    choose(null);
    changed();
  };
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Show when={mayAs('admin')}>
          <Button look="primary" icon="plus" onClick={() => setSearch({ add: '1' })}>
            {text.add}
          </Button>
        </Show>
      </PageHead>
      <Show when={(sites.data()?.defaults.length ?? 0) > 0}>
        <Notice tone="info">{text.fromEnvironment}</Notice>
      </Show>
      <Show when={traffic.problem() !== null}>
        <Notice tone="warn">{text.countsUnread}</Notice>
      </Show>
      <Show when={traffic.data() !== undefined && rows().some(({ requests }) => requests === null)}>
        <p class="small muted">{text.countsOfBusiest(countedMax)}</p>
      </Show>
      <Read of={both(sites, settingsRead)}>{() => <List rows={rows()} chosen={chosen()} onOpen={choose} />}</Read>
      <Overlay
        isOpen={opened() !== undefined}
        look="drawer"
        title={<Foreign text={chosen() ?? ''} max={80} />}
        onClose={() => choose(null)}
      >
        <Show when={opened()}>
          {(site) => <SiteDrawer of={site()} settings={settings()} onChanged={changed} onRemoved={removed} />}
        </Show>
      </Overlay>
      <Overlay isOpen={isAdding()} look="wide" title={text.newSite} onClose={closeForm}>
        <SiteFormFields
          before={null}
          stored={settings()}
          defaults={defaults()}
          onSaved={() => {
            closeForm();
            changed();
          }}
        />
      </Overlay>
    </>
  );
}
