// One image: its configuration, its layers, and what the advisories say of the packages of each.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Item, Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { imagesText as text } from '../../texts/vm/sources/images.js';
import { findingsOf, severityTone, type Applications } from '../vulnerabilities/words.js';

type Image = Item<'GET /api/v1/containers/images'>;
type Layer = Image['layers'][number];
type Vulnerabilities = Reply<'GET /api/v1/containers/images/{id}/vulnerabilities'>;
type Vulnerability = Vulnerabilities['items'][number];

const layerColumns: readonly TableColumn<Layer>[] = [
  { title: text.layer, isNumber: true, cell: ({ number }) => number },
  { title: text.of, cell: ({ of }) => <Badge>{text.owner[of]}</Badge> },
  { title: text.packages, isNumber: true, cell: ({ packages }) => showCount(packages) },
  { title: text.step, class: 'words', cell: (one) => <Foreign text={one.created_by || '–'} max={200} /> },
];

const columns: readonly TableColumn<Vulnerability>[] = [
  { title: text.severity, cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge> },
  { title: text.advisory, cell: ({ id }) => <Foreign text={id} max={60} /> },
  { title: text.package, cell: ({ name }) => <Foreign text={name} max={100} /> },
  { title: text.version, class: 'mono', cell: ({ version }) => <Foreign text={version} max={60} /> },
  { title: text.fixed, class: 'mono', cell: ({ fixed }) => <Foreign text={fixed ?? '–'} max={60} /> },
  { title: text.layer, isNumber: true, cell: ({ layer }) => layer },
  { title: text.of, cell: ({ of }) => text.owner[of] },
  {
    title: text.finding,
    cell: ({ vuln_id: id }) => (
      <Show when={id} fallback="–">
        {(found) => <A href={`/vulnerabilities?status=all&finding=${found()}`}>{text.seeFinding}</A>}
      </Show>
    ),
  },
];

function Compared(props: { readonly of: Vulnerabilities }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{text.vulnerabilities}</h3>
      <Show when={props.of.without_advisories.length > 0}>
        <Notice tone="warn">{text.withoutAdvisories(props.of.without_advisories.join(', '))}</Notice>
      </Show>
      <Show when={props.of.not_comparable > 0}>
        <p class="muted small">{text.notComparable(props.of.not_comparable)}</p>
      </Show>
      <Table
        label={text.vulnerabilities}
        columns={columns}
        of={{ rows: props.of.items }}
        keyOf={({ id, purl, layer }) => `${id} ${purl} ${layer}`}
        empty={text.noVulnerabilities}
        emptyAbout={text.noVulnerabilitiesAbout}
      />
    </section>
  );
}

function Details(props: { readonly of: Image; readonly applications: Applications; readonly mayFindings: boolean }) {
  const list = (all: readonly string[]): JSX.Element => <Foreign text={all.join(', ') || '–'} max={500} />;
  const base = (): string =>
    props.of.base.known_by === 'unknown'
      ? text.knownBy.unknown
      : `${text.baseLayers(props.of.base.layers)}, ${text.knownBy[props.of.base.known_by]}`;
  return (
    <div class="stack">
      <Pairs
        of={[
          [text.application, <Foreign text={props.applications.nameOf(props.of.application_id)} />],
          [text.tags, list(props.of.tags)],
          [text.digest, <Foreign text={props.of.digest} max={80} />],
          [text.platform, <Foreign text={`${props.of.os}/${props.of.architecture}`} max={80} />],
          [text.distribution, <Foreign text={props.of.distribution || '–'} />],
          [text.user, <Foreign text={props.of.user || text.root} max={80} />],
          [text.ports, list(props.of.ports)],
          [text.environment, list(props.of.environment)],
          [text.base, base()],
          [text.when, showMoment(props.of.updated_at)],
        ]}
      />
      <section class="stack tight">
        <h3>{text.layers}</h3>
        <Table
          label={text.layers}
          columns={layerColumns}
          of={{ rows: props.of.layers }}
          keyOf={({ number }) => String(number)}
          empty={text.none}
        />
      </section>
      <Show when={props.mayFindings}>
        <OfAdvisories id={props.of.id} />
        <p>
          <A href={findingsOf(props.of.application_id)}>{text.seeFindings}</A>
        </p>
      </Show>
    </div>
  );
}

function OfAdvisories(props: { readonly id: string }): JSX.Element {
  const found = createQuery('GET /api/v1/containers/images/{id}/vulnerabilities', () => ({ params: { id: props.id } }));
  return <Read of={found}>{(answer) => <Compared of={answer()} />}</Read>;
}

function Opened(props: { readonly id: string; readonly applications: Applications; readonly mayFindings: boolean }) {
  const one = createQuery('GET /api/v1/containers/images/{id}', () => ({ params: { id: props.id } }));
  return (
    <Read of={one}>
      {(image) => <Details of={image()} applications={props.applications} mayFindings={props.mayFindings} />}
    </Read>
  );
}

export function ImageDrawer(props: {
  readonly id: string | null;
  readonly applications: Applications;
  readonly mayFindings: boolean;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Overlay isOpen={props.id !== null} look="wide" title={text.image(props.id ?? '')} onClose={props.onClose}>
      <Show when={props.id} keyed>
        {(id) => <Opened id={id} applications={props.applications} mayFindings={props.mayFindings} />}
      </Show>
    </Overlay>
  );
}
