// What every role may do, as two tables of ticks: permissions of the vulnerability manager, and operations of the
// control plane gathered by what they ask for.
import { useSearchParams } from '@solidjs/router';
import { createMemo, For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../../client/http.js';
import { createQuery } from '../../../client/query.js';
import { Card, Foreign } from '../../../kit/basics.js';
import { AddressFilters } from '../../../kit/fields/address-filters.js';
import { Overlay } from '../../../kit/overlays.js';
import { Icon } from '../../../kit/icons.js';
import { createChosen } from '../../../kit/table/list-card.js';
import { ofQuery } from '../../../kit/table/table-source.js';
import { Table, type TableColumn } from '../../../kit/table/table.js';
import { rolesText as text } from '../../../texts/resources/roles.js';
import { gatherRights, rightsWith, type Right } from './rights.js';

type Permission = Reply<'GET /api/v1/rbac/permissions'>['items'][number];

/** As many as one answer holds. */
const rolesMax = 500;

/** A tick for eyes, a word for ears. */
function Tick(props: { readonly is: boolean }): JSX.Element {
  return (
    <>
      <span class="visually-hidden">{props.is ? text.yes : text.no}</span>
      <Show when={props.is}>
        <Icon name="check" />
      </Show>
    </>
  );
}

const ticks = <T,>(title: string, is: (row: T) => boolean): TableColumn<T> => ({
  title,
  class: 'tick',
  cell: (row) => <Tick is={is(row)} />,
});

function ManagerRights(): JSX.Element {
  const known = createQuery('GET /api/v1/rbac/permissions');
  const own = createQuery('GET /api/v1/rbac/roles', () => ({
    query: { limit: rolesMax, sort: 'name' as const, built_in: false },
  }));
  const builtIn = createMemo(() => [...new Set((known.data()?.items ?? []).flatMap(({ roles }) => roles))]);
  const columns = (): readonly TableColumn<Permission>[] => [
    {
      title: text.permission,
      sortBy: ({ name }) => name,
      cell: ({ name, description }) => (
        <div class="stack tight">
          <span>{name.replaceAll('_', ' ')}</span>
          <span class="small faint">{description}</span>
        </div>
      ),
    },
    ...builtIn().map((role) => ticks<Permission>(role, ({ roles }) => roles.includes(role))),
    ...(own.data()?.items ?? []).map(({ name, permissions }) =>
      ticks<Permission>(name ?? '', (row) => (permissions ?? []).some((one) => one === row.name)),
    ),
  ];
  return (
    <Card isFlush title={text.ofManager}>
      <p class="body muted small">{text.ofManagerAbout}</p>
      <Table
        label={text.ofManager}
        columns={columns()}
        of={ofQuery(known, ({ items }) => items)}
        keyOf={({ name }) => name}
        empty={text.noRights}
      />
    </Card>
  );
}

const roles = ['viewer', 'operator', 'admin'] as const;
const nameOf = ({ kind, permission }: Right): string =>
  ({ public: text.public, manager: text.byManager, nodes: text.byNodes, guarded: permission ?? '' })[kind];

const columns: readonly TableColumn<Right>[] = [
  { title: text.permission, sortBy: nameOf, cell: (right) => <span class="nums">{nameOf(right)}</span> },
  {
    title: text.operations,
    isNumber: true,
    sortBy: ({ operations }) => operations.length,
    cell: ({ operations }) => String(operations.length),
  },
  ...roles.map((role) => ticks<Right>(role, (right) => right.kind === 'public' || right.roles.includes(role))),
  ticks<Right>(text.byToken, ({ tokens }) => tokens),
];

function FirewallRights(): JSX.Element {
  const [search] = useSearchParams();
  const matrix = createQuery('GET /api/roles/matrix');
  const [chosen, choose] = createChosen('right');
  const rights = createMemo(() => gatherRights(matrix.data()?.items ?? []));
  const typed = (): string => (typeof search['q'] === 'string' ? search['q'] : '');
  const one = (): Right | undefined => rights().find(({ key }) => key === chosen());
  return (
    <>
      <Card isFlush title={text.ofFirewall}>
        <p class="body muted small">{text.ofFirewallAbout}</p>
        <div class="body">
          <AddressFilters of={[{ name: 'q', label: text.words }]} />
        </div>
        <Table
          label={text.ofFirewall}
          columns={columns}
          of={ofQuery(matrix, () => rightsWith(rights(), typed()))}
          keyOf={({ key }) => key}
          onOpen={({ key }) => choose(key)}
          chosen={chosen()}
          empty={text.noRights}
        />
      </Card>
      <Overlay isOpen={one() !== undefined} look="drawer" title={text.operations} onClose={() => choose(null)}>
        <Show when={one()}>
          {(right) => (
            <section class="stack">
              <h3>{text.operationsOf(nameOf(right()))}</h3>
              <ul class="plain-list stack tight">
                <For each={right().operations}>
                  {(operation) => (
                    <li class="mono small">
                      <Foreign text={operation} />
                    </li>
                  )}
                </For>
              </ul>
            </section>
          )}
        </Show>
      </Overlay>
    </>
  );
}

export function Rights(): JSX.Element {
  return (
    <>
      <FirewallRights />
      <ManagerRights />
    </>
  );
}
