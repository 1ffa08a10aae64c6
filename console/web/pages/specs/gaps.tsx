// What specifications declare beside what traffic shows. Each figure is the table that it leads to.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Empty, Figure, Foreign, Notice, PageHead, type Tone } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { gapsText as text } from '../../texts/apis/gaps.js';

type Gaps = Reply<'GET /api/posture-gaps'>;
type Shadow = Gaps['shadow'][number];
type Zombie = Gaps['zombie'][number];
type Operation = Gaps['operations'][number];
type Site = Gaps['sites'][number];
type Severity = Shadow['severity'];

/** As many of each as one answer holds. */
const limit = 5000;
const tones: Readonly<Record<Severity, Tone>> = { high: 'danger', medium: 'warn' };

const percentOf = (of: { readonly coverage_percent: number | null }): string =>
  of.coverage_percent === null ? text.none : text.percent(of.coverage_percent);

const severityColumn: TableColumn<{ readonly severity: Severity }> = {
  title: text.severity,
  sortBy: ({ severity }) => (severity === 'high' ? 0 : 1),
  cell: ({ severity }) => <Badge tone={tones[severity]}>{severity}</Badge>,
};
const siteColumn: TableColumn<{ readonly site: string }> = {
  title: text.site,
  cell: ({ site }) => <Foreign text={site} max={80} />,
};
const endpointColumn: TableColumn<{ readonly method: string; readonly template: string }> = {
  title: text.endpoint,
  class: 'mono',
  cell: ({ method, template }) => <Foreign text={`${method} ${template}`} max={200} />,
};
const specColumn: TableColumn<{ readonly specification: string }> = {
  title: text.specification,
  cell: ({ specification }) => <Foreign text={specification} max={80} />,
};

const shadowColumns: readonly TableColumn<Shadow>[] = [
  severityColumn,
  siteColumn,
  endpointColumn,
  { title: text.why, class: 'words', cell: ({ why }) => <Foreign text={why} max={300} /> },
  { title: text.data, cell: ({ classification }) => classification },
  { title: text.hits, isNumber: true, sortBy: ({ hits }) => hits, cell: ({ hits }) => showCount(hits) },
  { title: text.lastSeen, class: 'nums', cell: ({ last_seen: at }) => showMoment(at) },
];

const zombieColumns: readonly TableColumn<Zombie>[] = [
  severityColumn,
  siteColumn,
  {
    ...endpointColumn,
    cell: (one: Zombie) => (
      <span class="row wrap">
        <Foreign text={`${one.method} ${one.template}`} max={200} />
        <Show when={one.deprecated}>
          <Badge tone="warn">{text.deprecated}</Badge>
        </Show>
      </span>
    ),
  },
  specColumn,
  {
    title: text.sure,
    sortBy: ({ confidence }) => -confidence.score,
    cell: ({ confidence }) => text.sureOf(confidence.level, confidence.observed_days),
  },
  { title: text.why, cell: ({ confidence }) => <Foreign text={confidence.why} max={300} /> },
];

const operationColumns: readonly TableColumn<Operation>[] = [
  severityColumn,
  siteColumn,
  endpointColumn,
  specColumn,
  {
    title: text.gapsOf,
    cell: ({ gaps }) => <Foreign text={gaps.map(({ message }) => message).join('; ')} max={600} />,
  },
  { title: text.where, class: 'mono small', cell: ({ pointer }) => <Foreign text={pointer} max={200} /> },
  { title: text.hits, isNumber: true, sortBy: ({ hits }) => hits, cell: ({ hits }) => showCount(hits) },
];

const siteColumns: readonly TableColumn<Site>[] = [
  siteColumn,
  {
    title: text.specification,
    cell: ({ specifications }) => (
      <Foreign
        text={specifications.map(({ name, version }) => `${name} ${version}`).join(', ') || text.none}
        max={200}
      />
    ),
  },
  { title: text.documented, isNumber: true, cell: ({ documented }) => showCount(documented) },
  { title: text.seen, isNumber: true, cell: ({ observed }) => showCount(observed) },
  { title: text.coverage, isNumber: true, cell: percentOf },
  { title: text.shadow, isNumber: true, cell: ({ shadow }) => showCount(shadow) },
  { title: text.zombie, isNumber: true, cell: ({ zombie }) => showCount(zombie) },
];

/** Below its row: a sentence in a column beside six figures is a tower of single words. */
const missingOf = ({ hint }: Site): JSX.Element =>
  hint === null ? null : (
    <p class="small muted">
      {text.whatIsMissing}: <Foreign text={hint} max={400} />
    </p>
  );

function Figures(props: { readonly of: Gaps }): JSX.Element {
  const grave = (): string => text.grave(showCount(props.of.totals.high), showCount(props.of.totals.medium));
  return (
    <div class="grid-4">
      <Figure
        label={text.coverage}
        value={percentOf(props.of)}
        note={text.covered(showCount(props.of.observed), showCount(props.of.documented))}
      />
      <Figure label={text.shadow} value={showCount(props.of.totals.shadow)} note={text.shadowNote} />
      <Figure label={text.zombie} value={showCount(props.of.totals.zombie)} note={text.zombieNote} />
      <Figure label={text.withGaps} value={showCount(props.of.totals.operations)} note={grave()} />
    </div>
  );
}

/** A table of what one answer holds; where that is not all, it says so. */
function Part<T>(props: {
  readonly title: string;
  readonly rows: readonly T[];
  readonly total: number;
  readonly columns: readonly TableColumn<T>[];
  readonly keyOf: (row: T) => string;
  readonly empty: string;
  readonly below?: (row: T) => JSX.Element;
}): JSX.Element {
  return (
    <Card
      isFlush
      title={props.title}
      actions={
        <Show when={props.rows.length < props.total}>
          <span class="small muted">{text.cut(showCount(props.rows.length), showCount(props.total))}</span>
        </Show>
      }
    >
      <Table
        label={props.title}
        columns={props.columns}
        of={ofRows(() => props.rows)}
        keyOf={props.keyOf}
        empty={props.empty}
        {...(props.below === undefined ? {} : { below: props.below })}
      />
    </Card>
  );
}

const endpointKey = (one: { readonly site: string; readonly method: string; readonly template: string }): string =>
  JSON.stringify([one.site, one.method, one.template]);
const operationKey = (one: Zombie | Operation): string => `${one.specification} ${endpointKey(one)}`;

const isDeclared = ({ sites }: Gaps): boolean => sites.some(({ specifications }) => specifications.length > 0);

/** Without a specification every list is empty, and would seem to say that all is well. */
function NothingDeclared(): JSX.Element {
  return (
    <Card>
      <Empty title={text.nothingDeclared}>
        <p>{text.nothingDeclaredAbout}</p>
        <A class="button" href="/inventory/specifications">
          {text.toSpecs}
        </A>
      </Empty>
    </Card>
  );
}

export function Gaps(): JSX.Element {
  const gaps = createQuery('GET /api/posture-gaps', () => ({ query: { limit } }));
  return (
    <>
      <PageHead
        title={text.gaps}
        about={
          <>
            {text.about} <A href="/inventory/specifications">{text.toSpecs}</A>.
          </>
        }
      />
      <Read of={gaps}>
        {(data) => (
          <>
            <Show when={isDeclared(data()) && data().hint}>
              {(hint) => (
                <Notice tone="info" title={text.sayNothingYet}>
                  <span class="sentence">
                    <Foreign text={hint()} max={600} />
                  </span>
                </Notice>
              )}
            </Show>
            <Figures of={data()} />
            <Show when={isDeclared(data())} fallback={<NothingDeclared />}>
              <Part
                title={text.shadow}
                rows={data().shadow}
                total={data().totals.shadow}
                columns={shadowColumns}
                keyOf={endpointKey}
                empty={text.noShadow}
              />
              <Part
                title={text.withGaps}
                rows={data().operations}
                total={data().totals.operations}
                columns={operationColumns}
                keyOf={operationKey}
                empty={text.noGaps}
              />
              <Part
                title={text.zombie}
                rows={data().zombie}
                total={data().totals.zombie}
                columns={zombieColumns}
                keyOf={operationKey}
                empty={text.noZombie}
              />
            </Show>
            <Part
              title={text.sites}
              rows={data().sites}
              total={data().sites.length}
              columns={siteColumns}
              keyOf={({ site }) => site}
              empty={text.noSites}
              below={missingOf}
            />
          </>
        )}
      </Read>
    </>
  );
}
