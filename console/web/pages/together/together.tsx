// What closes most findings at once (groups), and what several tools say of one weakness (clusters): merged and taken
// apart from here.
import { A, useSearchParams } from '@solidjs/router';
import { For, Match, Show, Switch, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Card, Empty, Foreign, Notice, PageHead, Tabs } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { deduplicationsText } from '../../texts/vm/records/deduplications.js';
import { togetherText as text } from '../../texts/vm/records/together.js';
import { Deduplications } from './runs.js';
import { severityTone } from '../vulnerabilities/words.js';

type Group = Reply<'GET /api/v1/findings/groups'>['items'][number];
type Cluster = Reply<'GET /api/v1/findings/clusters'>['items'][number];
type By = keyof typeof text.kinds;
const kinds = Object.keys(text.kinds) as By[];
const shownMax = 200;

const columns: readonly TableColumn<Group>[] = [
  { title: text.key, cell: ({ key }) => <Foreign text={key} max={160} /> },
  { title: text.findings, class: 'nums', cell: ({ findings }) => showCount(findings) },
  { title: text.applications, class: 'nums', cell: ({ applications }) => showCount(applications) },
  { title: text.worst, cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge> },
  { title: text.risk, class: 'nums', cell: ({ risk }) => showCount(risk) },
  { title: text.fix, cell: ({ fix }) => <Foreign text={fix ?? '–'} max={60} /> },
];

function Groups(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const by = (): By => kinds.find((one) => one === search['by']) ?? 'component_fix';
  const found = createQuery('GET /api/v1/findings/groups', () => ({ query: { by: by(), limit: shownMax } }));
  return (
    <>
      <SelectField
        label={text.by}
        value={by()}
        options={kinds.map((one) => [one, text.kinds[one]] as const)}
        onChange={(one) => setSearch({ by: one })}
      />
      <Read of={found}>
        {(data) => (
          <Card isFlush>
            <Show when={data().is_partial}>
              <Notice tone="warn">{text.partial}</Notice>
            </Show>
            <Table
              label={text.view.groups}
              columns={columns}
              of={ofRows(() => data().items)}
              keyOf={({ key }) => key}
              empty={text.none}
              emptyAbout={text.noneAbout}
            />
          </Card>
        )}
      </Read>
    </>
  );
}

function ClusterCard(props: {
  readonly of: Cluster;
  readonly mayTriage: boolean;
  readonly onChanged: () => void;
}): JSX.Element {
  const action = createAction();
  const done = async (work: () => Promise<unknown>): Promise<void> => {
    if (await action.run(work)) props.onChanged();
  };
  const merge = (): Promise<void> =>
    done(() =>
      call('POST /api/v1/findings/clusters/merge', { body: { vuln_ids: props.of.items.map(({ id }) => id) } }),
    );
  const split = (): Promise<void> =>
    done(() => call('POST /api/v1/findings/clusters/{id}/split', { params: { id: props.of.id }, body: {} }));
  const unlink = (id: string): Promise<void> =>
    done(() =>
      call('DELETE /api/v1/vulnerabilities/{id}/duplicates/{dup_id}', { params: { id: props.of.id, dup_id: id } }),
    );
  const isMerged = (): boolean => props.of.state === 'merged';
  return (
    <Card>
      <div class="stack tight">
        <Show when={!isMerged()}>
          <div class="row wrap">
            <Badge>{text.confidence(Math.round(props.of.confidence * 100))}</Badge>
            <span class="muted">{[...new Set(props.of.reasons.map(({ about }) => about))].join(', ')}</span>
          </div>
        </Show>
        <ul class="stack tight">
          <For each={props.of.items}>
            {(one) => (
              <li class="row wrap">
                <Badge tone={severityTone(one.severity)}>{one.severity}</Badge>
                <A href={`/vulnerabilities?status=all&finding=${one.id}`}>
                  <Foreign text={one.title} max={160} />
                </A>
                <span class="muted">
                  <Foreign text={`${one.tool} ${one.location}`} max={200} />
                </span>
                <Show when={props.mayTriage && isMerged() && one.id !== props.of.id}>
                  <Button isSmall onClick={() => void unlink(one.id)}>
                    {text.unlink}
                  </Button>
                </Show>
              </li>
            )}
          </For>
        </ul>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Show when={props.mayTriage}>
          <div class="row wrap">
            <Show when={!isMerged()}>
              <Button isSmall isBusy={action.isBusy()} onClick={() => void merge()}>
                {text.merge}
              </Button>
            </Show>
            <Button isSmall isBusy={action.isBusy()} onClick={() => void split()}>
              {isMerged() ? text.splitMerged : text.split}
            </Button>
          </div>
        </Show>
      </div>
    </Card>
  );
}

function Clusters(props: { readonly state: 'proposed' | 'merged'; readonly mayTriage: boolean }): JSX.Element {
  const found = createQuery('GET /api/v1/findings/clusters', () => ({
    query: { state: props.state, limit: shownMax },
  }));
  return (
    <Read of={found}>
      {(data) => (
        <div class="stack">
          <Show when={data().is_partial}>
            <Notice tone="warn">{text.partial}</Notice>
          </Show>
          <For
            each={data().items}
            fallback={
              <Empty title={props.state === 'merged' ? text.noMerged : text.noClusters}>{text.noClustersAbout}</Empty>
            }
          >
            {(one) => <ClusterCard of={one} mayTriage={props.mayTriage} onChanged={() => void found.reload()} />}
          </For>
        </div>
      )}
    </Read>
  );
}

const tabs = [
  ['groups', text.view.groups],
  ['proposed', text.view.proposed],
  ['merged', text.view.merged],
  ['runs', deduplicationsText.title],
] as const;

export function Together(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const tab = () => tabs.find(([name]) => name === search['view'])?.[0] ?? 'groups';
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs label={text.views} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'groups'}>
          <Groups />
        </Match>
        <Match when={tab() === 'proposed'}>
          <Clusters state="proposed" mayTriage={access.may('triage_findings')} />
        </Match>
        <Match when={tab() === 'runs'}>
          <Deduplications mayTriage={access.may('triage_findings')} />
        </Match>
        <Match when={tab() === 'merged'}>
          <Clusters state="merged" mayTriage={access.may('triage_findings')} />
        </Match>
      </Switch>
    </>
  );
}
