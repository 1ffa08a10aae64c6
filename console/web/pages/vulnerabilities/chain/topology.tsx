// What asks what, and where it runs: connections of the topology, those between services first.
import { createMemo, createSignal, Show, type JSX } from 'solid-js';
import type { Reply } from '../../../client/http.js';
import { showCount, showMoment } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Badge, Card, Foreign, Notice } from '../../../kit/basics.js';
import { SelectField } from '../../../kit/form.js';
import { Table, type TableColumn } from '../../../kit/table/table.js';
import { ofQuery } from '../../../kit/table/table-source.js';
import { ownGraphText as text } from '../../../texts/vm/models/own-graph.js';

type Answer = Reply<'GET /api/v1/graph/topology'>;
type Edge = Answer['edges'][number];
type Kind = Edge['kind'];
type Row = Edge & { readonly fromName: string; readonly toName: string };

const kinds = Object.entries(text.relations) as readonly (readonly [Kind, string])[];

function rowsOf({ nodes, edges }: Answer, kind: string): readonly Row[] {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  const rows = edges
    .filter((edge) => kind === '' || edge.kind === kind)
    .map((edge) => ({ ...edge, fromName: names.get(edge.from) ?? edge.from, toName: names.get(edge.to) ?? edge.to }));
  return rows.sort((left, right) => (right.traffic?.requests ?? -1) - (left.traffic?.requests ?? -1));
}

const columns: readonly TableColumn<Row>[] = [
  {
    title: text.from,
    sortBy: ({ fromName }) => fromName,
    cell: ({ fromName }) => <Foreign text={fromName} max={120} />,
  },
  { title: text.relation, sortBy: ({ kind }) => kind, cell: ({ kind }) => text.relations[kind] },
  { title: text.to, sortBy: ({ toName }) => toName, cell: ({ toName }) => <Foreign text={toName} max={120} /> },
  {
    title: text.requests,
    isNumber: true,
    sortBy: ({ traffic }) => traffic?.requests ?? -1,
    cell: ({ traffic }) => (traffic === null ? '–' : showCount(traffic.requests)),
  },
  {
    title: text.withoutIdentity,
    isNumber: true,
    sortBy: ({ traffic }) => traffic?.unauthenticated_requests ?? -1,
    cell: ({ traffic }) => (
      <Show when={(traffic?.unauthenticated_requests ?? 0) > 0} fallback={traffic === null ? '–' : '0'}>
        <Badge tone="warn">{showCount(traffic?.unauthenticated_requests ?? 0)}</Badge>
      </Show>
    ),
  },
  { title: text.failed, isNumber: true, cell: ({ traffic }) => (traffic === null ? '–' : showCount(traffic.failed)) },
  { title: text.lastSeen, cell: ({ traffic }) => (traffic === null ? '–' : showMoment(traffic.last_seen)) },
];

export function Topology(props: { readonly application: string }): JSX.Element {
  const [kind, setKind] = createSignal('');
  const found = createQuery('GET /api/v1/graph/topology', () => ({
    query: props.application === '' ? {} : { application_id: props.application },
  }));
  const numbers = createMemo(() => found.data());
  return (
    <Card isFlush title={text.topology}>
      <div class="body stack">
        <p class="muted">{text.topologyAbout}</p>
        <div class="narrow-grid">
          <SelectField
            label={text.relation}
            value={kind()}
            options={[['', text.anyRelation], ...kinds]}
            onChange={setKind}
          />
        </div>
        <Show when={numbers()}>
          {(data) => (
            <p role="status">{text.nodesAndEdges(showCount(data().nodes.length), showCount(data().edges.length))}</p>
          )}
        </Show>
        <Show when={numbers()?.truncated}>
          <Notice tone="warn">{text.cut}</Notice>
        </Show>
      </div>
      <Table
        label={text.topology}
        columns={columns}
        of={ofQuery(found, (data) => rowsOf(data, kind()))}
        keyOf={({ kind: of, from, to }) => `${of} ${from} ${to}`}
        empty={text.noTraffic}
        emptyAbout={text.noTrafficAbout}
      />
    </Card>
  );
}
