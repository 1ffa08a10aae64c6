// What was discovered, a run to look again, and what becomes of each asset.
import { createEffect, createSignal, For, onCleanup, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item, type Query } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Card, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { discoveryText as text } from '../../texts/vm/sources/discovery.js';
import { createApplications, plain } from '../vulnerabilities/words.js';

type Asset = Item<'GET /api/v1/discovery/assets'>;
type Filter = Omit<Query<'GET /api/v1/discovery/assets'>, 'cursor' | 'limit'>;
const refreshMs = 1500;

const exposureOf = ({ unprotected, site, exposed }: Asset): string => {
  if (unprotected) return text.unprotected;
  if (site !== null) return text.behind(site);
  return exposed === null ? text.unknown : exposed ? text.exposed : text.inner;
};

const columns: readonly TableColumn<Asset>[] = [
  { title: text.host, cell: ({ host, port }) => <Foreign text={port === null ? host : `${host}:${port}`} max={120} /> },
  { title: text.kind, cell: ({ kind }) => kind },
  { title: text.state, cell: ({ state }) => text.states[state] },
  { title: text.sources, cell: ({ sources }) => sources.join(', ') },
  {
    title: text.exposure,
    cell: (one) => <Badge tone={one.unprotected ? 'danger' : 'info'}>{exposureOf(one)}</Badge>,
  },
  { title: text.seen, class: 'nums', cell: ({ last_seen: at }) => showMoment(at, true) },
];

function NewRun(props: { readonly onStarted: () => void }): JSX.Element {
  const [seeds, setSeeds] = createSignal('');
  const [origin, setOrigin] = createSignal('');
  const [zone, setZone] = createSignal('');
  const [nmap, setNmap] = createSignal('');
  const action = createAction();
  const start = () =>
    action.run(async () => {
      const names = seeds()
        .split(/[\s,]+/)
        .filter((one) => one !== '');
      const domain = origin() === '' ? {} : { origin: origin() };
      const { id } = await call('POST /api/v1/discovery/runs', {
        body: {
          ...(names.length === 0 ? {} : { seeds: names }),
          ...(zone() === '' ? {} : { zone: { ...domain, text: zone() } }),
          ...(nmap() === '' ? {} : { nmap: nmap() }),
        },
      });
      tell(text.begun(id));
      props.onStarted();
    });
  return (
    <Card title={text.start}>
      <div class="stack">
        <TextField label={text.seeds} help={text.seedsHelp} value={seeds()} onInput={setSeeds} />
        <div class="grid-2">
          <AreaField label={text.zone} help={text.zoneHelp} rows={3} value={zone()} onInput={setZone} />
          <AreaField label={text.nmap} rows={3} value={nmap()} onInput={setNmap} />
        </div>
        <Show when={zone() !== ''}>
          <TextField label={text.origin} value={origin()} onInput={setOrigin} />
        </Show>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button look="primary" isBusy={action.isBusy()} onClick={() => void start()}>
            {text.start}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function LastRun(props: { readonly mayRun: boolean; readonly onEnded: () => void }): JSX.Element {
  const runs = createQuery('GET /api/v1/discovery/runs', () => ({ query: { limit: 1 } }));
  const action = createAction();
  const last = () => runs.data()?.items[0];
  const isOpen = (): boolean => last()?.status === 'running';
  createEffect(() => {
    if (!isOpen()) return props.onEnded();
    const timer = setInterval(runs.reload, refreshMs);
    onCleanup(() => clearInterval(timer));
  });
  const counts = () => (last()?.result ?? {}) as { phase?: string; new?: number; seen_again?: number };
  return (
    <Show when={last()}>
      {(run) => (
        <Notice tone={run().status === 'failed' ? 'danger' : 'info'}>
          <Show
            when={isOpen()}
            fallback={
              <>
                {text.last(run().id, plain(run().status), counts().new ?? 0, counts().seen_again ?? 0)}{' '}
                <Foreign text={run().error ?? ''} max={300} />
              </>
            }
          >
            {text.running(run().id, counts().phase ?? '', run().progress)}{' '}
            <Show when={props.mayRun}>
              <Button
                onClick={() =>
                  void action.run(async () => {
                    await call('POST /api/v1/discovery/runs/{id}/cancel', { params: { id: run().id } });
                    void runs.reload();
                  })
                }
              >
                {text.stop}
              </Button>
            </Show>
          </Show>
        </Notice>
      )}
    </Show>
  );
}

function AssetView(props: { readonly of: Asset; readonly mayEdit: boolean; readonly onDone: () => void }): JSX.Element {
  const applications = createApplications();
  const [application, setApplication] = createSignal(props.of.application_id ?? '');
  const [reason, setReason] = createSignal('');
  const action = createAction();
  const params = { id: props.of.id };
  const promote = () =>
    action.run(async () => {
      const body = application() === '' ? {} : { application_id: application() };
      const made = await call('POST /api/v1/discovery/assets/{id}/promote', { params, body });
      tell(text.promoted(made.target_id ?? ''));
      props.onDone();
    });
  const ignore = () =>
    action.run(async () => {
      const ignored = props.of.state !== 'ignored';
      await call('POST /api/v1/discovery/assets/{id}/ignore', { params, body: { reason: reason(), ignored } });
      props.onDone();
    });
  return (
    <div class="stack">
      <p>
        <Foreign text={props.of.url ?? props.of.host} max={300} /> {exposureOf(props.of)}
      </p>
      <Show when={props.of.state === 'ignored'}>
        <Notice tone="info">{text.ignoredBy(props.of.decided_by ?? '', props.of.reason)}</Notice>
      </Show>
      <h3>{text.from}</h3>
      <For each={props.of.provenance}>
        {(one) => <Foreign text={`${one.source}: ${one.detail} (${showMoment(one.at, true)})`} max={400} />}
      </For>
      <Show when={props.mayEdit}>
        <Show when={props.of.target_id === null}>
          <SelectField
            label={text.application}
            value={application()}
            options={applications.options(text.newApplication)}
            onChange={setApplication}
          />
          <div>
            <Button look="primary" isBusy={action.isBusy()} onClick={() => void promote()}>
              {text.promote}
            </Button>
          </div>
        </Show>
        <TextField label={text.reason} value={reason()} onInput={setReason} />
        <div>
          <Button disabled={reason().trim() === ''} isBusy={action.isBusy()} onClick={() => void ignore()}>
            {props.of.state === 'ignored' ? text.again : text.ignore}
          </Button>
        </div>
      </Show>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
    </div>
  );
}

export function Discovery(): JSX.Element {
  const access = createVmAccess();
  const filters = useFilters(['q', 'state']);
  const list = createPagedList('GET /api/v1/discovery/assets', () => filters() as Filter);
  const [chosen, choose] = createChosen('asset');
  const [turn, setTurn] = createSignal(1);
  const asset = () => list.items().find(({ id }) => id === chosen());
  const done = (): void => {
    choose(null);
    list.reload();
  };
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Show when={turn()} keyed>
        {(_) => <LastRun mayRun={access.may('run_discovery')} onEnded={() => list.reload()} />}
      </Show>
      <Show when={access.may('run_discovery')}>
        <NewRun onStarted={() => setTurn((before) => before + 1)} />
      </Show>
      <FilterBar names={['q', 'state']} placeholder={text.words} />
      <ListCard
        label={text.assets}
        title={text.assets}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.none}
        emptyAbout={text.noneAbout}
      />
      <Overlay isOpen={asset() !== undefined} title={text.asset(chosen() ?? '')} onClose={() => choose(null)}>
        <Show when={asset()} keyed>
          {(one) => <AssetView of={one} mayEdit={access.may('edit_assets')} onDone={done} />}
        </Show>
      </Overlay>
    </>
  );
}
