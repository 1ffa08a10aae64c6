// Where personal data and secrets go: from each kind of data to the endpoints that carry it and their sites, as a
// picture and as a table; what anybody may have stands out in both.
import { useSearchParams } from '@solidjs/router';
import { createMemo, For, Show, type JSX } from 'solid-js';
import type { Item, Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Figure, Foreign, Pairs, type Tone } from '../../kit/basics.js';
import { SelectField, Switch } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery, ofRows } from '../../kit/table/table-source.js';
import { flowText as text } from '../../texts/apis/data-flow.js';
import { flowHops } from './flow-hops.js';
import { layOut } from './hop-layout.js';
import { Picture } from './picture.js';

type Flow = Item<'GET /api/data-flow'>;
type Place = Flow['places'][number];
type Category = keyof typeof text.categories;

/** As many as one answer holds; the table says of how many. */
const limit = 5000;
const dataTones: Readonly<Record<Flow['classification'], Tone>> = {
  Restricted: 'danger',
  Confidential: 'warn',
  Internal: 'info',
  Public: 'neutral',
};
const keyOf = ({ site, method, template }: Flow): string => JSON.stringify([site, method, template]);
const wordOf = (category: string): string => text.categories[category as Category] ?? category;

const columns: readonly TableColumn<Flow>[] = [
  {
    title: text.endpoint,
    class: 'mono',
    cell: ({ method, template }) => <Foreign text={`${method} ${template}`} max={200} />,
  },
  { title: text.site, cell: ({ site }) => <Foreign text={site} max={80} /> },
  {
    title: text.data,
    cell: ({ categories }) => (
      <span class="row wrap">
        <For each={categories}>{(one) => <Badge>{wordOf(one)}</Badge>}</For>
      </span>
    ),
  },
  {
    title: text.classification,
    cell: ({ classification }) => <Badge tone={dataTones[classification]}>{classification}</Badge>,
  },
  {
    title: text.whoMay,
    cell: ({ unprotected }) => (
      <Badge tone={unprotected ? 'danger' : 'neutral'}>{unprotected ? text.anybody : text.protected}</Badge>
    ),
  },
  { title: text.regulations, cell: ({ regulations }) => <Foreign text={regulations.join(', ') || '–'} max={120} /> },
  { title: text.hits, isNumber: true, sortBy: ({ hits }) => hits, cell: ({ hits }) => showCount(hits) },
  { title: text.lastSeen, class: 'nums', cell: ({ last_seen: at }) => showMoment(at) },
];

const placeColumns: readonly TableColumn<Place>[] = [
  { title: text.side, cell: ({ side }) => text.sides[side] },
  { title: text.place, class: 'mono', cell: ({ pointer }) => <Foreign text={pointer || text.whole} max={300} /> },
  {
    title: text.data,
    cell: ({ categories }) =>
      Object.entries(categories)
        .map(([category, count]) => text.counted(wordOf(category), showCount(count)))
        .join(', '),
  },
];

function Opened(props: { readonly of: Flow }): JSX.Element {
  return (
    <>
      <h3 class="mono">
        <Foreign text={`${props.of.method} ${props.of.template}`} max={400} />
      </h3>
      <Pairs
        of={[
          [text.site, <Foreign text={props.of.site} max={200} />],
          [text.whoMay, props.of.unprotected ? text.anybody : text.protected],
          [text.classification, props.of.classification],
          [text.regulations, <Foreign text={props.of.regulations.join(', ') || '–'} max={300} />],
          [text.firstSeen, showMoment(props.of.first_seen)],
          [text.lastSeen, showMoment(props.of.last_seen)],
        ]}
      />
      <Table
        label={text.places}
        columns={placeColumns}
        of={ofRows(() => props.of.places)}
        keyOf={({ side, pointer }) => `${side} ${pointer}`}
        empty={text.noPlaces}
      />
    </>
  );
}

function Drawn(props: { readonly flows: readonly Flow[]; readonly total: number }): JSX.Element {
  const picture = createMemo(() => flowHops(props.flows, wordOf));
  const drawing = createMemo(() => layOut(picture().hops, { width: 220, labelMax: 30 }));
  return (
    <Show when={picture().drawn > 0}>
      <Card
        title={text.picture}
        actions={
          <Show when={picture().drawn < props.total}>
            <span class="small muted">{text.drawnOf(picture().drawn, showCount(props.total))}</span>
          </Show>
        }
      >
        <Picture of={drawing()} label={text.picture} says={(from, to) => text.goes(from, to)} />
      </Card>
    </Show>
  );
}

/** The address of what a figure counts: under the filters of the page. */
function listOf(category: Category | '', isOnly: boolean): string {
  const search = new URLSearchParams({ view: 'data-flow' });
  if (category !== '') search.set('category', category);
  if (isOnly) search.set('unprotected', '1');
  return `/inventory?${search.toString()}`;
}

function Figures(props: {
  readonly of: Reply<'GET /api/data-flow'>;
  readonly category: Category | '';
  readonly isOnly: boolean;
}): JSX.Element {
  return (
    <div class="grid-3">
      <Figure label={text.endpoints} value={showCount(props.of.total)} href={listOf(props.category, props.isOnly)} />
      <Figure
        label={text.unprotected}
        value={showCount(props.of.unprotected)}
        note={text.unprotectedNote}
        href={listOf(props.category, true)}
      />
      <Figure label={text.sites} value={showCount(props.of.sites.length)} />
    </div>
  );
}

export function DataFlow(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const isOnly = (): boolean => search['unprotected'] === '1';
  const category = (): Category | '' => {
    const { category: given } = search;
    return typeof given === 'string' && Object.hasOwn(text.categories, given) ? (given as Category) : '';
  };
  const flows = createQuery('GET /api/data-flow', () => {
    const chosen = category();
    return { query: { limit, ...(isOnly() ? { unprotected: true } : {}), ...(chosen ? { category: chosen } : {}) } };
  });
  const [chosen, choose] = createChosen('flow');
  const opened = (): Flow | undefined => flows.data()?.items.find((one) => keyOf(one) === chosen());
  return (
    <>
      <div class="narrow-grid">
        <SelectField
          label={text.data}
          value={category()}
          options={[['', text.anyData], ...(Object.entries(text.categories) as [Category, string][])]}
          onChange={(value) => setSearch({ category: value })}
        />
      </div>
      <Read of={flows}>
        {(data) => (
          <>
            <Figures of={data()} category={category()} isOnly={isOnly()} />
            <Drawn flows={data().items} total={data().total} />
          </>
        )}
      </Read>
      <Card
        isFlush
        title={text.dataFlow}
        actions={
          <Switch
            label={text.onlyUnprotected}
            isOn={isOnly()}
            onChange={(isOn) => setSearch({ unprotected: isOn ? '1' : '' })}
          />
        }
      >
        <Table
          label={text.dataFlow}
          columns={columns}
          of={ofQuery(
            flows,
            ({ items }) => items,
            ({ total }) => total,
          )}
          keyOf={keyOf}
          chosen={chosen()}
          onOpen={(one) => choose(keyOf(one))}
          empty={text.noFlows}
          emptyAbout={text.noFlowsAbout}
        />
      </Card>
      <Overlay isOpen={opened() !== undefined} look="drawer" title={text.endpoint} onClose={() => choose(null)}>
        <Show when={opened()}>{(one) => <Opened of={one()} />}</Show>
      </Overlay>
    </>
  );
}
