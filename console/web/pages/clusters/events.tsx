// Events of clusters, those that are alike as one row, and one of them with all that is kept of it.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Item, Query } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Foreign, ForeignLines, Pairs } from '../../kit/basics.js';
import { AddressFilters } from '../../kit/fields/address-filters.js';
import { useFilters } from '../../kit/filter-bar.js';
import { Overlay } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { clustersText as text } from '../../texts/vm/models/clusters.js';
import type { Applications } from '../vulnerabilities/words.js';

type Event = Item<'GET /api/v1/k8s-runtime/events'>;
type Filter = Omit<Query<'GET /api/v1/k8s-runtime/events'>, 'cursor' | 'limit'>;
const sources = Object.entries(text.sources) as readonly (readonly [string, string])[];

const whereOf = ({ namespace, workload }: Event): string =>
  [namespace, workload].filter((part) => part !== '').join('/') || '–';

function FindingLink(props: { readonly id: string | null }): JSX.Element {
  return (
    <Show when={props.id} fallback="–">
      {(id) => <A href={`/vulnerabilities?finding=${id()}&status=all`}>{text.findingNo(id())}</A>}
    </Show>
  );
}

const nameOf = (applications: Applications, id: string | null): string =>
  id === null ? text.noApplication : applications.nameOf(id);

const columnsOf = (applications: Applications): readonly TableColumn<Event>[] => [
  { title: text.last, class: 'nums', cell: ({ last_at: at }) => showMoment(at) },
  { title: text.source, isMinor: true, cell: ({ source }) => text.sources[source] },
  {
    title: text.said,
    cell: ({ rule, hits }) => (
      <span class="row wrap">
        <Foreign text={rule} max={120} />
        <Show when={hits.length > 0}>
          <Badge tone="warn">{hits.length}</Badge>
        </Show>
      </span>
    ),
  },
  { title: text.priority, cell: ({ priority }) => priority },
  { title: text.workload, class: 'mono', cell: (event) => <Foreign text={whereOf(event)} max={120} /> },
  {
    title: text.application,
    cell: ({ application_id: id }) => <Foreign text={nameOf(applications, id)} max={80} />,
  },
  { title: text.times, isNumber: true, cell: ({ times }) => showCount(times) },
  { title: text.finding, class: 'nums', cell: ({ vuln_id: id }) => <FindingLink id={id} /> },
];

function Facts(props: { readonly of: Event; readonly applications: Applications }): JSX.Element {
  const of = (): Event => props.of;
  const shown = (value: string): JSX.Element => <Foreign text={value || '–'} max={2000} />;
  return (
    <Pairs
      of={[
        [text.said, shown(of().rule)],
        [text.output, <ForeignLines text={of().output || '–'} max={2000} />],
        [text.hits, shown(of().hits.join(', '))],
        [text.priority, of().priority],
        [text.first, showMoment(of().first_at)],
        [text.last, showMoment(of().last_at)],
        [text.times, showCount(of().times)],
        [text.application, shown(nameOf(props.applications, of().application_id))],
        [text.cluster, shown(of().cluster)],
        [text.workload, shown(whereOf(of()))],
        [text.pod, shown(of().pod)],
        [text.container, shown(of().container)],
        [text.image, shown(of().image)],
        [text.request, shown([of().verb, of().resource].filter((part) => part !== '').join(' '))],
        [text.user, shown(of().username)],
        [text.outcome, shown(of().outcome)],
        [text.finding, <FindingLink id={of().vuln_id} />],
      ]}
    />
  );
}

export function ClusterEvents(props: { readonly applications: Applications }): JSX.Element {
  const filters = useFilters(['source', 'application_id', 'namespace', 'hit']);
  const list = createPagedList('GET /api/v1/k8s-runtime/events', () => filters() as Filter);
  const [chosen, choose] = createChosen('event');
  const opened = (): Event | undefined => list.items().find(({ id }) => id === chosen());
  return (
    <>
      <AddressFilters
        of={[
          { name: 'source', label: text.source, options: () => [['', text.anySource], ...sources] },
          {
            name: 'application_id',
            label: text.application,
            options: () => props.applications.options(text.anyApplication),
          },
          {
            name: 'hit',
            label: text.hits,
            options: () => [
              ['', '–'],
              ['true', text.onlyHits],
            ],
          },
        ]}
      />
      <ListCard
        title={text.events}
        label={text.events}
        list={list}
        columns={columnsOf(props.applications)}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.noEvents}
        emptyAbout={text.noEventsAbout}
      />
      <Overlay isOpen={opened() !== undefined} look="drawer" title={text.event} onClose={() => choose(null)}>
        <Show when={opened()}>{(event) => <Facts of={event()} applications={props.applications} />}</Show>
      </Overlay>
    </>
  );
}
