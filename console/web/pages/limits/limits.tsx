// The rate limits: the default one, zones and endpoints, each with what it would have limited in the last hour.
import { A, useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, onMount, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery, type QueryState } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { loadSettings, saved, settingsRead, type SettingsValues } from '../../client/settings-draft.js';
import { Badge, Button, Card, Foreign, Notice, PageHead, Tabs } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { limitsText as text } from '../../texts/setup/limits.js';
import { RateLimits } from '../protection/rate-limits.js';
import { createEntrySave } from '../setup/entry-save.js';
import { Completeness } from './effect.js';
import { LimitFormFields } from './limit-form.js';
import type { EndpointLimit, StoredLimit, Zone } from './limit-values.js';

type Effects = Reply<'GET /api/rate-limits/effect'>;

interface Row {
  readonly key: string;
  readonly name: string;
  readonly limit: StoredLimit;
  readonly appliesTo: string;
  readonly counted: string;
  readonly allows: string;
  readonly isDry: boolean;
  readonly effect: Effects['limits'][number] | null;
}

const effectEveryMs = 15_000;

const countedBy = (key: string): string =>
  key === 'ip' ? text.byClient : key === 'global' ? text.byAll : text.byHeader(key.slice('header:'.length));

/** In the order in which they are asked, as the effects are listed. */
function rowsOf(settings: SettingsValues, effects: Effects | undefined): Row[] {
  const zones = (settings['rl_zones'] ?? []) as readonly Zone[];
  const endpoints = (settings['endpoint_limits'] ?? []) as readonly EndpointLimit[];
  const allows = (events: unknown, window: unknown): string =>
    text.perWindow(typeof events === 'number' ? showCount(events) : '', String(window));
  const rows: Omit<Row, 'effect' | 'key'>[] = [
    {
      name: text.defaultLimit,
      limit: { kind: 'default', entry: null },
      appliesTo: text.everyPath,
      counted: text.byClient,
      allows: allows(settings['rl_events'], settings['rl_window']),
      isDry: settings['rl_dry_run'] === true,
    },
    ...zones.map((entry) => ({
      name: entry.name,
      limit: { kind: 'zone', entry } as const,
      appliesTo: text.below(entry.match_path),
      counted: countedBy(entry.key),
      allows: allows(entry.events, entry.window),
      isDry: entry.dry_run,
    })),
    ...endpoints.map((entry) => ({
      name: entry.path,
      limit: { kind: 'endpoint', entry } as const,
      appliesTo: `${entry.method === '*' ? '' : entry.method} ${entry.path}`.trim(),
      counted: text.byClient,
      allows: allows(entry.events, entry.window),
      isDry: entry.dry_run,
    })),
  ];
  const isOf = effects?.limits.length === rows.length;
  return rows.map((row, at) => ({
    ...row,
    key: `${row.limit.kind} ${row.appliesTo} ${at}`,
    effect: isOf ? (effects?.limits[at] ?? null) : null,
  }));
}

function EffectCell(props: { readonly of: Row['effect'] }): JSX.Element {
  const says = (): string => {
    const { matched, limited } = props.of ?? {};
    if (props.of === null) return '–';
    return matched == null ? text.notCountable : text.limitedOf(showCount(limited ?? 0), showCount(matched));
  };
  return (
    <span
      class={(props.of?.limited ?? 0) > 0 ? 'nums' : 'nums faint'}
      title={props.of?.matched === null ? text.notCountableAbout : ''}
    >
      {says()}
    </span>
  );
}

const columns: readonly TableColumn<Row>[] = [
  { title: text.limit, class: 'words', cell: ({ name }) => <Foreign text={name} max={80} /> },
  { title: text.appliesTo, class: 'mono', cell: ({ appliesTo }) => <Foreign text={appliesTo} max={120} /> },
  { title: text.counted, cell: ({ counted }) => <Foreign text={counted} max={80} /> },
  { title: text.allows, class: 'nums', cell: ({ allows }) => allows },
  {
    title: text.does,
    cell: ({ isDry }) => <Badge tone={isDry ? 'warn' : 'danger'}>{isDry ? text.records : text.refuses}</Badge>,
  },
  { title: text.lastHour, isNumber: true, cell: ({ effect }) => <EffectCell of={effect} /> },
];

/** Whether they are in force at all, and the one switch for it. */
function Enabled(props: { readonly isOn: boolean }): JSX.Element {
  const save = createEntrySave([]);
  const turn = (): void => void save.run(() => ({ patch: { rl_enabled: !props.isOn }, place: '' }), false);
  return (
    <>
      <Show when={!props.isOn}>
        <Notice tone="warn" title={text.off}>
          {text.offAbout}
        </Notice>
      </Show>
      <Show when={mayAs('operator')}>
        <div>
          <Button isBusy={save.isBusy()} onClick={turn}>
            {props.isOn ? text.switchOff : text.switchOn}
          </Button>
        </div>
      </Show>
      <Show when={save.problems().rest}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
    </>
  );
}

function LimitList(props: {
  readonly rows: readonly Row[];
  readonly effects: QueryState<Effects>;
  readonly onOpen: (limit: StoredLimit) => void;
}): JSX.Element {
  return (
    <Card
      isFlush
      title={text.list}
      actions={<Show when={props.effects.data()}>{(data) => <Completeness of={data()} />}</Show>}
    >
      <Table
        label={text.list}
        columns={columns}
        of={ofRows(() => props.rows)}
        keyOf={({ key }) => key}
        {...(mayAs('operator') ? { onOpen: ({ limit }: Row) => props.onOpen(limit) } : {})}
        empty=""
      />
    </Card>
  );
}

function Limits(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const [opened, setOpened] = createSignal<StoredLimit | null>(null);
  const effects = createQuery('GET /api/rate-limits/effect', () => ({}), { everyMs: effectEveryMs });
  onMount(() => void loadSettings());
  const settings = (): SettingsValues => saved() ?? {};
  const rows = createMemo(() => rowsOf(settings(), effects.data()));
  const isAdding = (): boolean => search['add'] === '1' && mayAs('operator') && saved() !== null;
  const done = (): void => {
    setOpened(null);
    setSearch({ add: '' });
    void effects.reload();
  };
  return (
    <>
      <Read of={settingsRead}>
        {() => (
          <>
            <Enabled isOn={settings()['rl_enabled'] === true} />
            <Show when={effects.problem()}>
              {(found) => <Notice tone="warn">{text.effectUnread(found().message)}</Notice>}
            </Show>
            <LimitList rows={rows()} effects={effects} onOpen={setOpened} />
          </>
        )}
      </Read>
      <p>
        <A href="/admin/settings/rates">{text.more}</A>
      </p>
      <Overlay
        isOpen={isAdding() || opened() !== null}
        look="wide"
        title={opened() === null ? text.newLimit : text.limit}
        onClose={done}
      >
        <LimitFormFields before={opened()} stored={settings()} onSaved={done} />
      </Overlay>
    </>
  );
}

type View = 'limits' | 'nodes';
const views: readonly (readonly [View, string])[] = [
  ['limits', text.tabLimits],
  ['nodes', text.tabNodes],
];

export function LimitsPage(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const view = (): View => (search['view'] === 'nodes' ? 'nodes' : 'limits');
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Show when={mayAs('operator')}>
          <Button look="primary" icon="plus" onClick={() => setSearch({ view: '', add: '1' })}>
            {text.add}
          </Button>
        </Show>
      </PageHead>
      <Tabs label={text.views} tabs={views} chosen={view()} onChoose={(to) => setSearch({ view: to })} />
      <Show when={view() === 'nodes'} fallback={<Limits />}>
        <RateLimits />
      </Show>
    </>
  );
}
