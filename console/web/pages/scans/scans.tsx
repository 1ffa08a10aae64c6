// Scans of this installation: begun by an upload, what they looked at and what not, and the way to their findings.
import { A, useSearchParams } from '@solidjs/router';
import { createEffect, For, Match, onCleanup, Show, Switch, type JSX } from 'solid-js';
import { linkTo } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Foreign, Notice, PageHead, Tabs, type Tone } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { codeRulesText } from '../../texts/vm/sources/code-rules.js';
import { scansText as text } from '../../texts/vm/sources/scans.js';
import { createApplications, findingsOf, plain, type Applications } from '../vulnerabilities/words.js';
import { foundIn, kinds, passedOf, permissions, resultOf, type Kind, type Scan } from './kinds.js';
import { ActiveScans } from './active/active-scans.js';
import { Rules } from './rules.js';
import { StartScan } from './start.js';

const tones: Readonly<Record<string, Tone>> = { succeeded: 'good', failed: 'danger', running: 'info', queued: 'info' };
const refreshMs = 3000;

const isOpen = ({ status }: Scan): boolean => status === 'running' || status === 'queued';

function Completeness(props: { readonly of: Scan }): JSX.Element {
  return (
    <Show when={resultOf(props.of).complete !== undefined} fallback="–">
      <Badge tone={resultOf(props.of).complete === true ? 'good' : 'warn'}>
        {resultOf(props.of).complete === true ? text.complete : text.incomplete}
      </Badge>
    </Show>
  );
}

const countOf = (count: number | undefined): string => (count === undefined ? '–' : showCount(count));

const columnsOf = (applications: Applications): readonly TableColumn<Scan>[] => [
  { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
  { title: text.application, cell: ({ application_id: id }) => <Foreign text={applications.nameOf(id)} max={80} /> },
  { title: text.state, cell: ({ status }) => <Badge tone={tones[status] ?? 'warn'}>{plain(status)}</Badge> },
  { title: text.looked, cell: (one) => <Completeness of={one} /> },
  { title: text.files, isNumber: true, cell: (one) => countOf(resultOf(one).files_scanned) },
  { title: text.found, isNumber: true, cell: (one) => countOf(foundIn(resultOf(one))) },
  { title: text.who, cell: ({ created_by: who }) => <Foreign text={who} max={60} /> },
];

function Passed(props: { readonly of: Scan; readonly isFault: boolean }): JSX.Element {
  const passed = () => passedOf(resultOf(props.of), props.isFault);
  return (
    <Show when={passed().length > 0}>
      <section class="stack tight">
        <h3>{props.isFault ? text.notRead : text.leftOut}</h3>
        <Show when={props.isFault}>
          <p>{text.notReadAbout}</p>
        </Show>
        <ul class="code">
          <For each={passed()}>
            {([reason, count]) => (
              <li>
                <Foreign text={`${count}: ${reason}`} max={300} />
              </li>
            )}
          </For>
        </ul>
      </section>
    </Show>
  );
}

function Details(props: { readonly of: Scan }): JSX.Element {
  return (
    <div class="stack">
      <Show when={props.of.error}>
        {(error) => (
          <Notice tone="danger">
            <Foreign text={error()} max={500} />
          </Notice>
        )}
      </Show>
      <Show when={(resultOf(props.of).without_advisories ?? []).length > 0}>
        <Notice tone="warn">{text.withoutAdvisories((resultOf(props.of).without_advisories ?? []).join(', '))}</Notice>
      </Show>
      <Passed of={props.of} isFault={true} />
      <Passed of={props.of} isFault={false} />
      <div class="row wrap">
        <Show when={props.of.kind === 'sast' && props.of.status === 'succeeded'}>
          <a
            href={linkTo('GET /api/v1/sast/scans/{id}/sarif', undefined, { id: props.of.id })}
            download={`${props.of.id}.sarif`}
          >
            {codeRulesText.sarif}
          </a>
        </Show>
        <A href={findingsOf(props.of.application_id ?? '')}>{text.seeFindings}</A>
        <Show when={resultOf(props.of).import_id}>
          {(id) => <A href={`/vulnerabilities/imports?import=${id()}`}>{text.seeImport}</A>}
        </Show>
      </div>
    </div>
  );
}

const lists = {
  secrets: () => createPagedList('GET /api/v1/secrets/scans', () => ({})),
  sast: () => createPagedList('GET /api/v1/sast/scans', () => ({})),
  sca: () => createPagedList('GET /api/v1/sca/scans', () => ({})),
  iac: () => createPagedList('GET /api/v1/iac/scans', () => ({})),
  k8s: () => createPagedList('GET /api/v1/k8s-posture/scans', () => ({})),
};

function OfKind(props: { readonly kind: Kind; readonly applications: Applications; readonly mayRun: boolean }) {
  const list = lists[props.kind]();
  const [chosen, choose] = createChosen('scan');
  createEffect(() => {
    if (!list.items().some(isOpen)) return;
    const timer = setTimeout(list.reload, refreshMs);
    onCleanup(() => clearTimeout(timer));
  });
  return (
    <>
      <Show when={props.mayRun}>
        <StartScan kind={props.kind} applications={props.applications} onStarted={list.reload} />
      </Show>
      <ListCard
        label={text.scans}
        title={text.scans}
        list={list}
        columns={columnsOf(props.applications)}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.none}
        emptyAbout={text.noneAbout}
      />
      <Overlay isOpen={chosen() !== null} look="wide" title={text.scanOf(chosen() ?? '')} onClose={() => choose(null)}>
        <Show when={list.items().find(({ id }) => id === chosen())}>{(one) => <Details of={one()} />}</Show>
      </Overlay>
    </>
  );
}

type TabName = 'active' | Kind | 'rules';

export function Scans(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const [search, setSearch] = useSearchParams();
  const tabs = (): readonly (readonly [TabName, string])[] =>
    [
      ...(access.may('view_scans') ? ['active' as const] : []),
      ...kinds.filter((kind) => access.may(permissions[kind].view)),
      ...(access.may('view_code') ? ['rules' as const] : []),
    ].map((name) => [name, text.kinds[name]] as const);
  const tab = (): TabName => tabs().find(([name]) => name === search['view'])?.[0] ?? tabs()[0]?.[0] ?? 'active';
  return (
    <>
      <PageHead title={text.scans} about={text.about} />
      <Tabs label={text.scans} tabs={tabs()} chosen={tab()} onChoose={(view) => setSearch({ view, scan: undefined })} />
      <Switch>
        <For each={kinds}>
          {(kind) => (
            <Match when={tab() === kind}>
              <OfKind kind={kind} applications={applications} mayRun={access.may(permissions[kind].run)} />
            </Match>
          )}
        </For>
        <Match when={tab() === 'active' && access.me() !== undefined}>
          <ActiveScans access={access} />
        </Match>
        <Match when={tab() === 'rules'}>
          <Rules access={access} />
        </Match>
      </Switch>
    </>
  );
}
