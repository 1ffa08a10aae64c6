// Tickets: where they are and how they stand, at an integration and at a finding.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Foreign } from '../../kit/basics.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { integrationsText as text } from '../../texts/resources/integrations.js';

export type Ticket = Item<'GET /api/v1/integrations/tickets'>;

const tones = { queued: 'warn', open: 'neutral', closed: 'good', failed: 'danger', gone: 'danger' } as const;
const shownMax = 5;

export const TicketState = (props: { readonly of: Ticket }): JSX.Element => (
  <>
    <Badge tone={tones[props.of.state]}>{text.ticketStates[props.of.state]}</Badge>{' '}
    <Show when={props.of.remote_state}>{(words) => <Foreign text={words()} max={60} />}</Show>
  </>
);

/** Leads to the ticket where the tracker said where it is. */
export const TicketName = (props: { readonly of: Ticket }): JSX.Element => (
  <Show when={props.of.url} fallback={<Foreign text={props.of.key ?? '–'} max={60} />}>
    {(url) => (
      <a href={/^https?:\/\//i.test(url()) ? url() : '#'} target="_blank" rel="noopener noreferrer">
        <Foreign text={props.of.key ?? url()} max={60} />
      </a>
    )}
  </Show>
);

const columns: readonly TableColumn<Ticket>[] = [
  { title: text.ticket, cell: (one) => <TicketName of={one} /> },
  { title: text.state, cell: (one) => <TicketState of={one} /> },
  {
    title: text.findings,
    cell: ({ vulns }) => (
      <>
        <For each={vulns.slice(0, shownMax)}>
          {({ id, title }) => (
            <div>
              <A href={`/vulnerabilities?status=all&finding=${id}`}>
                <Foreign text={title} max={100} />
              </A>
            </div>
          )}
        </For>
        <Show when={vulns.length > shownMax}>
          <span class="muted">{text.moreFindings(vulns.length - shownMax)}</span>
        </Show>
      </>
    ),
  },
  {
    title: text.lastError,
    cell: ({ last_error: said }) => <Show when={said}>{(words) => <Foreign text={words()} max={300} />}</Show>,
  },
  { title: text.nextAt, class: 'nums', cell: ({ next_at: at }) => (at === null ? '–' : showMoment(at)) },
];

export function Tickets(props: { readonly integration: string }): JSX.Element {
  const list = createPagedList('GET /api/v1/integrations/tickets', () => ({ integration_id: props.integration }));
  return (
    <ListCard
      title={text.tickets}
      label={text.tickets}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      empty={text.noTickets}
      emptyAbout={text.noTicketsAbout}
    />
  );
}
