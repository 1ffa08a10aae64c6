// Between services: who asks whom, as a picture and as a table; what came without an identity stands out in both.
import { A, useSearchParams } from '@solidjs/router';
import { createMemo, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Card, Figure, Foreign } from '../../kit/basics.js';
import { Switch } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { apisText as text } from '../../texts/apis/inventory.js';
import { layOut } from './hop-layout.js';
import { Picture } from './picture.js';

/** As many as are kept (api/ingest/east-west.ts). */
const limit = 20_000;
/** Pairs in the picture, those without an identity first. */
const drawnMax = 500;

type Hop = Reply<'GET /api/east-west'>['items'][number];

const columns: readonly TableColumn<Hop>[] = [
  { title: text.caller, cell: ({ caller }) => <Foreign text={caller} max={80} /> },
  { title: text.callee, cell: ({ callee }) => <Foreign text={callee} max={80} /> },
  { title: text.requests, isNumber: true, sortBy: (one) => one.requests, cell: (one) => showCount(one.requests) },
  {
    title: text.without,
    isNumber: true,
    sortBy: (one) => one.unauthenticated_requests,
    cell: (one) => <span class={one.unauthenticated ? 'problem' : ''}>{showCount(one.unauthenticated_requests)}</span>,
  },
  { title: text.failed, isNumber: true, sortBy: (one) => one.failed, cell: (one) => showCount(one.failed) },
  { title: text.lastSeen, class: 'nums', cell: ({ last_seen: at }) => showMoment(at) },
];

export function EastWest(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const isOnly = (): boolean => search['unauthenticated'] === '1';
  const hops = createQuery('GET /api/east-west', () => ({
    query: { limit, ...(isOnly() ? { unauthenticated: true } : {}) },
  }));
  const drawing = createMemo(() => layOut((hops.data()?.items ?? []).slice(0, drawnMax)));
  const pairs = (): number => hops.data()?.total ?? 0;
  return (
    <>
      <Read of={hops}>
        {(data) => (
          <div class="grid-3">
            <Figure label={text.services} value={showCount(data().services)} />
            <Figure
              label={text.pairsWithout}
              value={showCount(data().unauthenticated)}
              href="/inventory?view=east-west&unauthenticated=1"
            />
          </div>
        )}
      </Read>
      <Show when={drawing().nodes.length > 0}>
        <Card
          title={text.picture}
          actions={
            <Show when={pairs() > drawnMax}>
              <span class="small muted">{text.drawnOf(drawnMax, showCount(pairs()))}</span>
            </Show>
          }
        >
          <Picture of={drawing()} label={text.picture} says={(from, to) => text.asks(from, to)} />
        </Card>
      </Show>
      <Card
        isFlush
        title={text.eastWest}
        actions={
          <Switch
            label={text.onlyWithout}
            isOn={isOnly()}
            onChange={(isOn) => setSearch({ unauthenticated: isOn ? '1' : '' })}
          />
        }
      >
        <Table
          label={text.eastWest}
          columns={columns}
          of={ofQuery(
            hops,
            ({ items }) => items,
            ({ total }) => total,
          )}
          keyOf={({ caller, callee }) => JSON.stringify([caller, callee])}
          empty={text.noHops}
          emptyAbout={
            <>
              {text.noHopsAbout} <A href="/inventory?view=sources">{text.howToSend}</A>
            </>
          }
        />
      </Card>
    </>
  );
}
