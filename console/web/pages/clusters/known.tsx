// Clusters by name: which application their workloads are of, what scans have found, and what the rights lead to.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, Switch, TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { EntryForm } from '../../kit/resource/entry-form.js';
import { ListWithForm, type FormProps } from '../../kit/resource/list-with-form.js';
import { matchOf } from '../../kit/resource/resource-list.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { knownClustersText as text } from '../../texts/vm/models/known-clusters.js';
import { mapOf, mapText } from './map.js';

type Cluster = Item<'GET /api/v1/k8s-posture/clusters'>;
type Path = Item<'GET /api/v1/k8s-posture/rbac-paths'>;

const columns: readonly TableColumn<Cluster>[] = [
  { title: text.number, isNumber: true, cell: ({ id }) => id },
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name ?? ''} max={100} /> },
  {
    title: text.found,
    cell: ({ counts }) =>
      Object.entries(counts ?? {})
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', ') || '–',
  },
  { title: text.scanned, cell: ({ scanned_at: at }) => (at === null ? text.never : showMoment(at)) },
  { title: text.madeBy, isMinor: true, cell: ({ created_by: by }) => <Foreign text={by ?? ''} max={80} /> },
];

function ClusterForm(props: FormProps<Cluster>): JSX.Element {
  const { of } = props;
  const [name, setName] = createSignal(of?.name ?? '');
  const [about, setAbout] = createSignal(of?.description ?? '');
  const [lines, setLines] = createSignal(mapText(of?.application_map ?? []));
  const save = (): Promise<unknown> => {
    const body = { name: name().trim(), description: about(), application_map: mapOf(lines()) ?? [] };
    return of === null
      ? call('POST /api/v1/k8s-posture/clusters', { body })
      : call('PATCH /api/v1/k8s-posture/clusters/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) });
  };
  return (
    <EntryForm isWhole={mapOf(lines()) !== null} send={save} onDone={props.onDone} beside={props.removal}>
      <TextField label={text.name} value={name()} onInput={setName} help={text.nameHelp} isRequired />
      <TextField label={text.about} value={about()} onInput={setAbout} />
      <AreaField
        label={text.map}
        help={text.mapHelp}
        problem={mapOf(lines()) === null ? text.mapWrong : null}
        value={lines()}
        onInput={setLines}
      />
    </EntryForm>
  );
}

const pathColumns: readonly TableColumn<Path>[] = [
  {
    title: text.subject,
    sortBy: ({ subject }) => subject.name,
    cell: ({ subject }) => (
      <span>
        {text.kinds[subject.kind]}{' '}
        <Foreign text={[subject.namespace, subject.name].filter(Boolean).join('/')} max={120} />
      </span>
    ),
  },
  {
    title: text.goal,
    sortBy: ({ goal }) => goal,
    cell: (one) => <Badge tone={one.severity === 'critical' ? 'danger' : 'warn'}>{one.goal_title}</Badge>,
  },
  { title: text.cluster, sortBy: ({ cluster }) => cluster, cell: ({ cluster }) => <Foreign text={cluster} max={60} /> },
  { title: text.hops, isNumber: true, sortBy: ({ hops }) => hops.length, cell: ({ hops }) => String(hops.length) },
  { title: text.runs, cell: ({ runs }) => <Foreign text={runs.join(', ') || '–'} max={120} /> },
  {
    title: text.way,
    cell: ({ hops }) => (
      <ol class="plain-list small">
        <For each={hops}>
          {(hop) => (
            <li>
              <Foreign text={`${hop.from} → ${hop.to}: ${hop.right || text.member}`} max={300} />{' '}
              <span class="faint">
                <Foreign text={[hop.why, ...hop.bindings].join('; ')} max={400} />
              </span>
            </li>
          )}
        </For>
      </ol>
    ),
  },
];

export function RightsOfClusters(): JSX.Element {
  const [isAll, setAll] = createSignal(false);
  const found = createQuery('GET /api/v1/k8s-posture/rbac-paths', () => ({ query: { system: isAll(), limit: 500 } }));
  return (
    <Read of={found}>
      {(data) => (
        <Card isFlush title={text.paths} actions={<Switch label={text.system} isOn={isAll()} onChange={setAll} />}>
          <div class="body stack tight">
            <p class="muted">{text.pathsAbout}</p>
            <For each={data().clusters}>
              {(cluster) => (
                <>
                  <Show when={cluster.unknown_roles.length > 0}>
                    <Notice tone="warn">
                      <Foreign text={text.unknownRoles(cluster.name, cluster.unknown_roles.join(', '))} max={1000} />
                    </Notice>
                  </Show>
                  <Show when={cluster.partial || cluster.cut > 0}>
                    <Notice tone="warn">{text.partial(cluster.name)}</Notice>
                  </Show>
                </>
              )}
            </For>
          </div>
          <Table
            label={text.paths}
            columns={pathColumns}
            of={ofRows(() => data().items)}
            keyOf={(one) =>
              `${one.cluster_id} ${one.subject.kind} ${one.subject.namespace} ${one.subject.name} ${one.goal}`
            }
            empty={text.noPaths}
            emptyAbout={text.noPathsAbout}
          />
        </Card>
      )}
    </Read>
  );
}

export function KnownClusters(props: { readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/k8s-posture/clusters', () => ({ sort: 'name' as const }));
  return (
    <ListWithForm
      text={{
        list: text.clusters,
        one: text.cluster,
        add: text.newCluster,
        none: text.noClusters,
        noneAbout: text.noClustersAbout,
        deleteTitle: text.deleteCluster,
        deleteAbout: text.deleteClusterAbout,
      }}
      mayEdit={props.mayEdit}
      list={list}
      columns={columns}
      form={(of) => <ClusterForm {...of} />}
      remove={(of) => call('DELETE /api/v1/k8s-posture/clusters/{id}', { params: { id: of.id }, ifMatch: matchOf(of) })}
    />
  );
}
