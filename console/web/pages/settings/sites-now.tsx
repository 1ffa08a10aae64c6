// The sites that are protected now, beside the settings that name them: those of the environment until one is saved,
// and then what each has of the installation's rules.
import { Show, type JSX } from 'solid-js';
import type { Item, Reply } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Foreign } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { settingsText as text } from '../../texts/settings.js';

type Site = Item<'GET /api/sites'>;
type DefaultSite = Reply<'GET /api/sites'>['defaults'][number];

const lookEveryMs = 5000;

const nameColumn: TableColumn<DefaultSite> = {
  title: text.site,
  class: 'words',
  cell: ({ name }) => <Foreign text={name} max={80} />,
};
const upstreamColumn: TableColumn<DefaultSite> = {
  title: text.goesTo,
  class: 'mono',
  cell: ({ upstream }) => <Foreign text={upstream} max={120} />,
};
const modeColumn: TableColumn<DefaultSite> = {
  title: text.mode,
  cell: ({ protected: isProtected, mode }) => (
    <Show when={isProtected} fallback={<Badge>{text.notProtected}</Badge>}>
      <Badge tone={mode === 'On' ? 'good' : 'warn'}>{text.modes[mode] ?? mode}</Badge>
    </Show>
  ),
};

const defaultColumns: readonly TableColumn<DefaultSite>[] = [
  nameColumn,
  { title: text.askedFor, class: 'mono', cell: ({ prefix }) => <Foreign text={prefix} max={120} /> },
  upstreamColumn,
  modeColumn,
];

const columns: readonly TableColumn<Site>[] = [
  nameColumn,
  {
    title: text.askedFor,
    class: 'mono',
    cell: ({ host, prefix }) => <Foreign text={`${host ?? text.anyHost}${prefix}`} max={160} />,
  },
  upstreamColumn,
  modeColumn,
  { title: text.paranoia, isNumber: true, cell: ({ rules }) => rules.paranoia_level },
  {
    title: text.thresholds,
    isNumber: true,
    cell: ({ rules }) => `${rules.inbound_threshold} / ${rules.outbound_threshold}`,
  },
  {
    title: text.rulesFrom,
    cell: ({ rules: { policy, disabled_categories: off, own_rules: own } }) =>
      [
        policy === 'base' ? text.ofInstallation : text.ofItsOwn,
        ...(off.length > 0 ? [text.categoriesOff(off.length)] : []),
        ...(own.length > 0 ? [text.rulesForIt(own.length)] : []),
      ].join('; '),
  },
];

export function SitesNow(): JSX.Element {
  const sites = createQuery('GET /api/sites', () => ({}), { everyMs: lookEveryMs });
  return (
    <Read of={sites}>
      {(data) => (
        <Show
          when={data().items.length > 0}
          fallback={
            <Card isFlush title={text.sitesByDefault}>
              <p class="table-sum muted">{text.sitesByDefaultAbout}</p>
              <Table
                label={text.sitesByDefault}
                columns={defaultColumns}
                of={ofRows(() => data().defaults)}
                keyOf={({ name }) => name}
                empty={text.noDefaultSites}
              />
            </Card>
          }
        >
          <Card isFlush title={text.sitesNow}>
            <p class="table-sum muted">{text.sitesNowAbout}</p>
            <Table
              label={text.sitesNow}
              columns={columns}
              of={ofRows(() => data().items)}
              keyOf={({ name }) => name}
              empty={text.noDefaultSites}
            />
          </Card>
        </Show>
      )}
    </Read>
  );
}
