// Abuse of APIs as it was found: the list with its filters, what becomes of offenders, and one finding in full.
import { A, useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, Show, type JSX } from 'solid-js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery, type QueryState } from '../../client/query.js';
import { Badge, Card, Figure, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { threatsText as text } from '../../texts/engine/threats.js';
import { ThreatDrawer } from './threat-drawer.js';
import { severityTones, statusTones, type Kind, type Status, type Threat } from './words.js';

const statuses = ['open', 'acknowledged', 'dismissed'] as const;
const severities = ['critical', 'high', 'medium', 'low'] as const;
const ranks: Readonly<Record<Threat['severity'], number>> = { critical: 0, high: 1, medium: 2, low: 3 };

const columns: readonly TableColumn<Threat>[] = [
  {
    title: text.severity,
    sortBy: ({ severity }) => ranks[severity],
    cell: ({ severity }) => <Badge tone={severityTones[severity]}>{severity}</Badge>,
  },
  {
    title: text.kind,
    sortBy: ({ kind }) => text.kinds[kind],
    cell: ({ kind, owasp }) => (
      <span class="row wrap">
        {text.kinds[kind]} <Badge>{owasp}</Badge>
      </span>
    ),
  },
  {
    title: text.endpoint,
    class: 'mono',
    cell: ({ method, template }) => <Foreign text={`${method} ${template}`} max={160} />,
  },
  { title: text.site, cell: ({ site }) => <Foreign text={site} max={60} /> },
  { title: text.found, class: 'reasons', cell: ({ reason }) => <Foreign text={reason} max={200} /> },
  { title: text.count, isNumber: true, sortBy: ({ count }) => count, cell: ({ count }) => showCount(count) },
  {
    title: text.status,
    cell: ({ status }) => <Badge tone={statusTones[status]}>{text.states[status]}</Badge>,
  },
  { title: text.lastSeen, class: 'nums', sortBy: (one) => one.last_at, cell: (one) => showMoment(one.last_at) },
];

/** How many there are of each status; opens them. */
function StatusFigure(props: {
  readonly of: Status;
  readonly count: QueryState<{ readonly total: number }>;
}): JSX.Element {
  return (
    <Figure
      label={text.figures[props.of]}
      value={props.count.data() === undefined ? '–' : showCount(props.count.data()?.total ?? 0)}
      note={text.figureNotes[props.of]}
      href={`/inventory/threats?status=${props.of}`}
    />
  );
}

function ProtectMode(): JSX.Element {
  const settings = createQuery('GET /api/settings');
  return (
    <Card
      title={text.protectMode}
      actions={
        <A class="button small" href="/admin/settings/api#api_protect_mode">
          {text.toSettings}
        </A>
      }
    >
      <Read of={settings}>
        {(data) => {
          const isBlocking = (): boolean => data().api_protect_mode === 'block';
          return (
            <div class="stack tight">
              <div class="row wrap">
                <Badge tone={isBlocking() ? 'good' : 'info'}>
                  {text.modeNames[isBlocking() ? 'block' : 'monitor']}
                </Badge>
                <span>
                  {isBlocking() ? text.modes.block(showCount(Number(data().api_block_seconds))) : text.modes.monitor}
                </span>
              </div>
              <span class="small muted">
                {text.threshold(
                  showCount(Number(data().api_bola_threshold)),
                  showCount(Number(data().api_bola_window_sec)),
                )}
              </span>
            </div>
          );
        }}
      </Read>
    </Card>
  );
}

const among = <Value extends string>(values: readonly Value[], given: unknown): Value | '' =>
  values.find((one) => one === given) ?? '';

/** What is asked for, as the address says it: open findings unless it names a status. */
function createFilters() {
  const [search, setSearch] = useSearchParams();
  const kinds = Object.keys(text.kinds) as Kind[];
  const status = (): Status | 'all' =>
    search['status'] === 'all' ? 'all' : among(statuses, search['status']) || 'open';
  const kind = (): Kind | '' => among(kinds, search['kind']);
  const severity = () => among(severities, search['severity']);
  const site = (): string => (typeof search['site'] === 'string' ? search['site'] : '');
  const question = createMemo(() => {
    const [oneStatus, oneKind, oneSeverity, oneSite] = [status(), kind(), severity(), site()];
    return {
      ...(oneStatus === 'all' ? {} : { status: oneStatus }),
      ...(oneKind === '' ? {} : { kind: oneKind }),
      ...(oneSeverity === '' ? {} : { severity: oneSeverity }),
      ...(oneSite === '' ? {} : { site: oneSite }),
    };
  });
  return { status, kind, severity, site, question, set: setSearch };
}
type Filters = ReturnType<typeof createFilters>;

function FilterFields(props: { readonly of: Filters; readonly sites: readonly string[] }): JSX.Element {
  const sites = (): readonly string[] => [...new Set([...props.sites, props.of.site()])].filter((one) => one !== '');
  return (
    <div class="narrow-grid" role="search">
      <SelectField
        label={text.status}
        value={props.of.status()}
        options={Object.entries(text.statuses) as [Status | 'all', string][]}
        onChange={(status) => props.of.set({ status })}
      />
      <SelectField
        label={text.kind}
        value={props.of.kind()}
        options={[['', text.anyKind], ...(Object.entries(text.kinds) as [Kind, string][])]}
        onChange={(kind) => props.of.set({ kind })}
      />
      <SelectField
        label={text.severity}
        value={props.of.severity()}
        options={[['', text.anySeverity], ...severities.map((one) => [one, one] as const)]}
        onChange={(severity) => props.of.set({ severity })}
      />
      <SelectField
        label={text.site}
        value={props.of.site()}
        options={[['', text.anySite], ...sites().map((one) => [one, one] as const)]}
        onChange={(site) => props.of.set({ site })}
      />
    </div>
  );
}

export function Threats(): JSX.Element {
  const filters = createFilters();
  const [chosen, choose] = createChosen('threat');
  const list = createPagedList('GET /api/api-threats', filters.question);
  const counts = statuses.map(
    (status) => [status, createQuery('GET /api/api-threats', () => ({ query: { status, limit: 1 } }))] as const,
  );
  const [decided, setDecided] = createSignal<Threat | null>(null);
  const changed = (threat: Threat): void => {
    setDecided(threat);
    list.reload();
    for (const [, count] of counts) void count.reload();
  };
  // what is open stays open when a decision moves it out of the filter
  const opened = createMemo<Threat | null>((before) => {
    const id = chosen();
    if (id === null) return null;
    return [...list.items(), decided(), before].find((one) => one?.id === id) ?? null;
  }, null);
  const isGone = (): boolean => chosen() !== null && opened() === null && list.isAnswered() && !list.isLoading();
  const isNarrow = (): boolean => filters.kind() !== '' || filters.severity() !== '' || filters.site() !== '';
  return (
    <>
      <PageHead title={text.threats} about={text.about} />
      <div class="figures-narrow">
        {counts.map(([status, count]) => (
          <StatusFigure of={status} count={count} />
        ))}
      </div>
      <ProtectMode />
      <FilterFields of={filters} sites={list.items().map(({ site }) => site)} />
      <Show when={isGone()}>
        <Notice tone="warn" title={text.gone}>
          <span>{text.goneAbout}</span>
          <A href="/inventory/threats?status=all">{text.showAll}</A>
        </Notice>
      </Show>
      <ListCard
        label={text.threats}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        chosen={chosen()}
        onOpen={({ id }) => choose(id)}
        empty={isNarrow() || filters.status() !== 'all' ? text.noneOfFilter : text.noThreats}
        emptyAbout={text.noThreatsAbout}
      />
      <ThreatDrawer of={opened()} onClose={() => choose(null)} onChanged={changed} />
    </>
  );
}
