// One component of an application: what the bill of materials says of it, and which findings are in its package.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Foreign, Pairs } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { componentsText as text } from '../../texts/vm/sources/components.js';
import { vulnText } from '../../texts/vm/vulnerabilities.js';
import { severityTone, type Applications, type Finding } from '../vulnerabilities/words.js';
import { isInPackage } from './found-in.js';
import { Why } from './why.js';

type Component = Reply<'GET /api/v1/sca/components/{id}'>;

/** As many as one answer holds. */
const findingsMax = 500;

const columns: readonly TableColumn<Finding>[] = [
  { title: vulnText.severity, cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge> },
  {
    title: vulnText.finding,
    cell: ({ id, title, location }) => (
      <div class="stack tight">
        <A href={`/vulnerabilities?finding=${id}&status=all`}>
          <Foreign text={title} max={200} />
        </A>
        <span class="small faint mono">
          <Foreign text={location} max={200} />
        </span>
      </div>
    ),
  },
  { title: vulnText.tool, cell: ({ tool, source }) => <Foreign text={tool === '' ? source : tool} max={40} /> },
];

function ImportLink(props: { readonly id: string | null }): JSX.Element {
  return (
    <Show when={props.id} fallback="–">
      {(id) => <A href={`/vulnerabilities/imports?import=${id()}`}>{text.importNo(id())}</A>}
    </Show>
  );
}

function Facts(props: { readonly of: Component; readonly applications: Applications }): JSX.Element {
  const { of } = props;
  return (
    <Pairs
      of={[
        [
          text.application,
          <A href={`/vulnerabilities/applications?application=${of.application_id}`}>
            <Foreign text={props.applications.nameOf(of.application_id)} max={120} />
          </A>,
        ],
        [text.version, <Foreign text={of.version || '–'} max={200} />],
        [text.ecosystem, <Foreign text={of.type || '–'} max={60} />],
        [text.purl, <Foreign text={of.purl ?? '–'} max={1500} />],
        [text.licences, <Foreign text={of.licences.join(', ') || '–'} max={600} />],
        [text.relation, text.relations[of.relation]],
        [text.firstImport, <ImportLink id={of.first_import} />],
        [text.lastImport, <ImportLink id={of.last_import} />],
        [text.firstSeen, showMoment(of.first_seen)],
        [text.lastSeen, showMoment(of.last_seen)],
        ...(of.gone_at === null ? [] : [[text.goneSince, showMoment(of.gone_at)] as const]),
      ]}
    />
  );
}

function Findings(props: { readonly of: Component }): JSX.Element {
  const found = createQuery('GET /api/v1/findings', () => ({
    query: {
      application_id: props.of.application_id,
      source: 'sca',
      status: 'open',
      q: props.of.name.slice(0, 200),
      limit: findingsMax,
    },
  }));
  return (
    <Card isFlush title={text.findings}>
      <Table
        label={text.findings}
        columns={columns}
        of={ofQuery(found, ({ items }) => items.filter(({ location }) => isInPackage(location, props.of.name)))}
        keyOf={({ id }) => id}
        empty={text.noFindings}
        emptyAbout={text.findingsAbout}
      />
      <Show when={(found.data()?.total ?? 0) > findingsMax}>
        <p class="table-count faint small">{text.findingsCut(showCount(findingsMax))}</p>
      </Show>
    </Card>
  );
}

function Content(props: {
  readonly id: string;
  readonly applications: Applications;
  readonly maySeeWhy: boolean;
}): JSX.Element {
  const one = createQuery('GET /api/v1/sca/components/{id}', () => ({ params: { id: props.id } }));
  return (
    <Read of={one}>
      {(data) => (
        <>
          <h3 class="finding-title">
            <Foreign text={data().name} max={500} />
          </h3>
          <Show when={data().gone_at}>
            <div>
              <Badge>{text.gone}</Badge>
            </div>
          </Show>
          <Facts of={data()} applications={props.applications} />
          <Show when={props.maySeeWhy}>
            <Why id={data().id} />
          </Show>
          <Findings of={data()} />
          <div>
            <A class="button" href={`/vulnerabilities?application_id=${data().application_id}&source=sca`}>
              {text.moreFindings}
            </A>
          </div>
        </>
      )}
    </Read>
  );
}

/** `id` null: closed. */
export function ComponentDrawer(props: {
  readonly id: string | null;
  readonly applications: Applications;
  readonly maySeeWhy: boolean;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Overlay isOpen={props.id !== null} look="drawer" title={text.component(props.id ?? '')} onClose={props.onClose}>
      <Show when={props.id} keyed>
        {(id) => <Content id={id} applications={props.applications} maySeeWhy={props.maySeeWhy} />}
      </Show>
    </Overlay>
  );
}
