// Threats of a model: the list, and one with what stands for and against it.
import { A } from '@solidjs/router';
import { createEffect, For, on, Show, type JSX } from 'solid-js';
import type { Item, Query } from '../../client/http.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Foreign, Pairs, type Tone } from '../../kit/basics.js';
import { AddressFilters } from '../../kit/fields/address-filters.js';
import { useFilters } from '../../kit/filter-bar.js';
import { Overlay } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { threatModelsText as text } from '../../texts/vm/models/threat-models.js';
import { severityTone } from '../vulnerabilities/words.js';
import { Decision } from './decision.js';

export type Threat = Item<'GET /api/v1/threat-models/{id}/threats'>;
type Filter = Omit<Query<'GET /api/v1/threat-models/{id}/threats'>, 'cursor' | 'limit'>;

export const states = Object.entries(text.states) as readonly (readonly [Threat['status'], string])[];
const strides = Object.entries(text.strides) as readonly (readonly [Threat['stride'], string])[];
const tones: Readonly<Record<Threat['standing'], Tone>> = { exposed: 'danger', covered: 'good', possible: 'neutral' };
const stateTones: Readonly<Record<Threat['status'], Tone>> = {
  open: 'warn',
  mitigated: 'good',
  accepted: 'info',
  not_applicable: 'neutral',
};

const columns: readonly TableColumn<Threat>[] = [
  { title: text.severity, cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge> },
  { title: text.threat, class: 'words', cell: ({ title }) => title },
  { title: text.subject, cell: ({ subject }) => <Foreign text={subject.name} max={120} /> },
  { title: text.stride, isMinor: true, cell: ({ stride }) => text.strides[stride] },
  {
    title: text.standing,
    cell: ({ standing }) => <Badge tone={tones[standing]}>{text.standings[standing]}</Badge>,
  },
  { title: text.state, cell: ({ status }) => <Badge tone={stateTones[status]}>{text.states[status]}</Badge> },
];

function Measures(props: { readonly of: Threat['measures'] }): JSX.Element {
  return (
    <Show when={props.of.length > 0} fallback={text.noMeasures}>
      <ul class="stack tight plain-list">
        <For each={props.of}>
          {({ name, holds, reason }) => (
            <li>
              <Badge tone={holds ? 'good' : 'warn'}>{holds ? text.holds : text.holdsNot}</Badge>{' '}
              <span class="mono">{name}</span> <Foreign text={reason} max={500} />
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

function Findings(props: { readonly of: Threat['findings'] }): JSX.Element {
  return (
    <Show when={props.of.length > 0} fallback={text.noFindings}>
      <ul class="stack tight plain-list">
        <For each={props.of}>
          {(one) => (
            <li>
              <Badge tone={severityTone(one.severity)}>{one.severity}</Badge>{' '}
              <A href={`/vulnerabilities?finding=${one.id}&status=all`}>
                <Foreign text={one.title} max={200} />
              </A>{' '}
              <Show when={one.proven}>
                <Badge tone="danger">{text.proven}</Badge>
              </Show>
              <Show when={one.linked_by_hand}>
                <Badge>{text.byHand}</Badge>
              </Show>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

function Facts(props: { readonly of: Threat }): JSX.Element {
  return (
    <Pairs
      of={[
        [text.threat, props.of.title],
        [text.subject, <Foreign text={props.of.subject.name} max={620} />],
        [text.stride, text.strides[props.of.stride]],
        [text.happens, props.of.about],
        [text.fix, props.of.fix],
        [text.weaknesses, props.of.cwes.map((cwe) => `CWE-${cwe}`).join(', ')],
        [text.measures, <Measures of={props.of.measures} />],
        [text.findings, <Findings of={props.of.findings} />],
        [text.state, <Badge tone={stateTones[props.of.status]}>{text.states[props.of.status]}</Badge>],
        [text.control, <Foreign text={props.of.control || '–'} max={2000} />],
        [text.reason, <Foreign text={props.of.reason || '–'} max={2000} />],
        [text.decidedBy, <Foreign text={props.of.decided_by ?? text.nobody} max={120} />],
      ]}
    />
  );
}

export function Threats(props: {
  readonly model: string;
  /** The list is read anew when it changes. */
  readonly round: number;
  readonly mayEdit: boolean;
  readonly onDecided: () => void;
}): JSX.Element {
  const filters = useFilters(['stride', 'status']);
  const params = { id: props.model };
  const list = createPagedList('GET /api/v1/threat-models/{id}/threats', () => filters() as Filter, 100, params);
  createEffect(on(() => props.round, list.reload, { defer: true }));
  const [chosen, choose] = createChosen('threat');
  const opened = (): Threat | undefined => list.items().find(({ id }) => id === chosen());
  return (
    <>
      <AddressFilters
        of={[
          { name: 'stride', label: text.stride, options: () => [['', text.anyStride], ...strides] },
          { name: 'status', label: text.state, options: () => [['', text.anyState], ...states] },
        ]}
      />
      <ListCard
        title={text.threats}
        label={text.threats}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.noThreats}
        emptyAbout={text.noThreatsAbout}
      />
      <Overlay isOpen={opened() !== undefined} look="drawer" title={text.threat} onClose={() => choose(null)}>
        <Show when={opened()}>
          {(threat) => (
            <div class="stack">
              <Facts of={threat()} />
              <Show when={props.mayEdit}>
                <Decision of={threat()} onDecided={props.onDecided} />
              </Show>
            </div>
          )}
        </Show>
      </Overlay>
    </>
  );
}
