// Where security events and alert notifications are sent. A connector can be tested before it is saved.
import { A, useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, onMount, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { loadSettings, saved, settingsRead } from '../../client/settings-draft.js';
import { Badge, Button, Card, Foreign, Notice, PageHead, Pairs, type Tone } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { connectorsText as text } from '../../texts/setup/connectors.js';
import { formsText } from '../../texts/setup/forms.js';
import { ConnectorDetails } from '../alerts/connectors.js';
import { Channels } from './channels.js';
import { ConnectorFormFields } from './connector-form.js';
import type { StoredConnector } from './connector-values.js';

type Status = Reply<'GET /api/siem'>['connectors'][number];

interface Row {
  readonly name: string;
  readonly stored: StoredConnector | null;
  readonly status: Status | null;
}

const everyMs = 10_000;
const tones: Readonly<Record<Status['state'], Tone>> = {
  delivering: 'good',
  waiting: 'info',
  failing: 'danger',
  misconfigured: 'danger',
};

/** Those of the settings, then the one of `siem_webhook_url`, which has a status only. */
function rowsOf(stored: readonly StoredConnector[], statuses: readonly Status[]): Row[] {
  const statusOf = (name: string): Status | null => statuses.find((one) => one.name === name) ?? null;
  const others = statuses.filter(({ name }) => !stored.some((one) => one.name === name));
  return [
    ...stored.map((one) => ({ name: one.name, stored: one, status: statusOf(one.name) })),
    ...others.map((status) => ({ name: status.name, stored: null, status })),
  ];
}

/** One that is switched on and has no status has not been read yet, or could not be. */
function State(props: { readonly of: Row }): JSX.Element {
  return (
    <Show
      when={props.of.status}
      fallback={props.of.stored?.enabled === false ? <Badge>{formsText.off}</Badge> : <span class="faint">–</span>}
    >
      {(status) => <Badge tone={tones[status().state]}>{status().state}</Badge>}
    </Show>
  );
}

const columns: readonly TableColumn<Row>[] = [
  { title: text.name, class: 'words', cell: ({ name }) => <Foreign text={name} max={80} /> },
  { title: text.kind, cell: ({ stored }) => text.kinds[stored?.kind ?? 'webhook'] },
  { title: text.target, class: 'mono', cell: ({ stored }) => <Foreign text={stored?.target ?? '–'} max={100} /> },
  { title: text.state, cell: (row) => <State of={row} /> },
  {
    title: text.delivered,
    isNumber: true,
    cell: ({ status }) => (status === null ? '–' : showCount(status.delivered)),
  },
  { title: text.waiting, isNumber: true, cell: ({ status }) => (status === null ? '–' : showCount(status.waiting)) },
  { title: text.lastDelivered, class: 'nums', cell: ({ status }) => showMoment(status?.last_delivered_at, true) },
];

function Opened(props: {
  readonly of: Row;
  readonly onChanged: () => void;
  readonly onClosed: () => void;
}): JSX.Element {
  const [isEditing, setEditing] = createSignal(false);
  const done = (): void => {
    props.onChanged();
    props.onClosed();
  };
  return (
    <Show
      when={isEditing() ? props.of.stored : undefined}
      keyed
      fallback={
        <>
          <Show when={mayAs('admin')}>
            <div>
              <Show
                when={props.of.stored}
                fallback={
                  <A class="button" href="/admin/settings/delivery#siem_webhook_url">
                    {formsText.edit}
                  </A>
                }
              >
                <Button look="primary" onClick={() => setEditing(true)}>
                  {formsText.edit}
                </Button>
              </Show>
            </div>
          </Show>
          <Show when={props.of.stored}>
            {(stored) => (
              <Pairs
                of={[
                  [text.kind, text.kinds[stored().kind]],
                  [text.target, <Foreign text={stored().target} max={500} />],
                  [text.isOn, stored().enabled ? formsText.on : formsText.off],
                ]}
              />
            )}
          </Show>
          <Show when={props.of.status}>
            {(status) => <ConnectorDetails of={status()} onDone={() => props.onChanged()} />}
          </Show>
        </>
      }
    >
      {(stored) => <ConnectorFormFields before={stored} onSaved={done} />}
    </Show>
  );
}

export function ConnectorsPage(): JSX.Element {
  const siem = createQuery('GET /api/siem', () => ({}), { everyMs });
  const [search, setSearch] = useSearchParams();
  const [chosen, choose] = createChosen('connector');
  onMount(() => void loadSettings());
  const stored = (): readonly StoredConnector[] => (saved()?.['siem_connectors'] ?? []) as readonly StoredConnector[];
  const rows = createMemo(() => rowsOf(stored(), siem.data()?.connectors ?? []));
  const opened = (): Row | undefined => rows().find(({ name }) => name === chosen());
  const changed = (): void => void siem.reload();
  const closeForm = (): void => setSearch({ add: '' });
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Show when={mayAs('admin')}>
          <Button look="primary" icon="plus" onClick={() => setSearch({ add: '1' })}>
            {text.add}
          </Button>
        </Show>
      </PageHead>
      <Show when={siem.problem()}>{(found) => <Notice tone="warn">{text.statusUnread(found().message)}</Notice>}</Show>
      <Read of={settingsRead}>
        {() => (
          <Card isFlush title={text.events}>
            <Table
              label={text.events}
              columns={columns}
              of={ofRows(rows)}
              keyOf={({ name }) => name}
              onOpen={({ name }) => choose(name)}
              chosen={chosen()}
              empty={text.none}
              emptyAbout={mayAs('admin') ? text.noneAbout : text.noneAboutViewer}
            />
          </Card>
        )}
      </Read>
      <Channels />
      <Overlay
        isOpen={opened() !== undefined}
        look="drawer"
        title={<Foreign text={chosen() ?? ''} max={80} />}
        onClose={() => choose(null)}
      >
        <Show when={opened()}>{(row) => <Opened of={row()} onChanged={changed} onClosed={() => choose(null)} />}</Show>
      </Overlay>
      <Overlay
        isOpen={search['add'] === '1' && mayAs('admin')}
        look="wide"
        title={text.newConnector}
        onClose={closeForm}
      >
        <ConnectorFormFields
          before={null}
          onSaved={() => {
            closeForm();
            changed();
          }}
        />
      </Overlay>
    </>
  );
}
