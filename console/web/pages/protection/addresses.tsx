// Addresses that are not let in: by hand, from feeds, from the managed feed.
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Notice, PageHead, Pairs } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { Overlay, tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table.js';
import { ofPages } from '../../kit/table-source.js';

type Address = Item<'GET /api/threat-intel'>;

const durations = [
  ['3600', 'an hour'],
  ['86400', 'a day'],
  ['604800', 'a week'],
  ['2592000', '30 days'],
  ['', 'until it is taken off'],
] as const;

function AddDialog(props: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}): JSX.Element {
  const [text, setText] = createSignal('');
  const [reason, setReason] = createSignal('');
  const [seconds, setSeconds] = createSignal('86400');
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const add = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const expires = seconds() === '' ? {} : { expires_in_seconds: Number(seconds()) };
      const reply = await call('POST /api/threat-intel', { body: { text: text(), reason: reason(), ...expires } });
      tell(`${reply.added} added, ${reply.known} were known.`);
      setText('');
      props.onAdded();
      props.onClose();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem([error.message, ...error.errors.map((one) => `${one.path} ${one.reason}`)].join(' '));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Overlay
      isOpen={props.isOpen}
      title="Deny addresses"
      onClose={props.onClose}
      footer={
        <Button look="primary" isBusy={isBusy()} disabled={text().trim() === ''} onClick={() => void add()}>
          Deny
        </Button>
      }
    >
      <Show when={problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <AreaField
        label="Addresses and networks"
        value={text()}
        onInput={setText}
        placeholder={'203.0.113.7\n198.51.100.0/24'}
        help="One a line, IPv4 or IPv6."
      />
      <TextField label="Why" value={reason()} onInput={setReason} />
      <SelectField label="For" value={seconds()} options={durations} onChange={setSeconds} />
    </Overlay>
  );
}

function ManagedFeed(): JSX.Element {
  const feed = createQuery('GET /api/managed-feed', () => ({}), { everyMs: 30_000 });
  const [isBusy, setBusy] = createSignal(false);
  const refresh = async (): Promise<void> => {
    setBusy(true);
    try {
      await call('POST /api/managed-feed/refresh');
      tell('Fetched.');
      await feed.reload();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card
      title="Managed feed"
      actions={
        <Show when={mayAs('admin')}>
          <Button isBusy={isBusy()} onClick={() => void refresh()}>
            Fetch now
          </Button>
        </Show>
      }
    >
      <Read of={feed}>
        {(data) => (
          <div class="stack tight">
            <div class="row">
              <Badge tone={data().enabled ? 'good' : 'neutral'}>{data().enabled ? 'on' : 'off'}</Badge>
              <span class="muted">{data().url === '' ? 'the baseline that comes with the program' : data().url}</span>
            </div>
            <Show when={data().last_error}>{(text) => <Notice tone="warn">{text()}</Notice>}</Show>
            <Show when={data().copy}>
              {(copy) => (
                <Pairs
                  of={[
                    ['Name', copy().name],
                    ['Version', String(copy().version)],
                    ['Fetched', showMoment(copy().fetched_at)],
                    ['Networks', showCount(copy().networks)],
                    ['Signed', copy().signed ? 'yes' : 'no'],
                  ]}
                />
              )}
            </Show>
          </div>
        )}
      </Read>
    </Card>
  );
}

function AddressTable(props: {
  readonly of: TableSource<Address>;
  readonly onRemove: (row: Address) => void;
}): JSX.Element {
  const columns: readonly TableColumn<Address>[] = [
    { title: 'Network', class: 'mono', sortBy: (row) => row.network, cell: (row) => row.network },
    { title: 'Source', sortBy: (row) => row.source, cell: (row) => row.source },
    { title: 'Why', cell: (row) => <Foreign text={row.reason} max={120} /> },
    {
      title: 'Added',
      class: 'nums',
      cell: (row) => (
        <>
          {showMoment(row.added_at)} <span class="faint">{row.added_by}</span>
        </>
      ),
    },
    {
      title: 'Ends',
      class: 'nums',
      sortBy: (row) => row.expires_at,
      cell: (row) => (row.expires_at === null ? 'never' : showMoment(row.expires_at)),
    },
    {
      title: 'Actions',
      isTitleHidden: true,
      cell: (row) => (
        <Show when={mayAs('operator')}>
          <Button isSmall onClick={() => props.onRemove(row)}>
            Let in again
          </Button>
        </Show>
      ),
    },
  ];
  return (
    <Table
      label="Denied addresses"
      columns={columns}
      of={props.of}
      keyOf={(row) => row.network}
      empty="Nobody is denied"
    />
  );
}

export function Addresses(): JSX.Element {
  const [text, setText] = createSignal('');
  const [isAdding, setAdding] = createSignal(false);
  const list = createPagedList('GET /api/threat-intel', () => ({ q: text() }));
  const remove = async (row: Address): Promise<void> => {
    try {
      await call('DELETE /api/threat-intel', { query: { network: row.network } });
      tell(`${row.network} is let in again.`);
      list.reload();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
  };
  return (
    <>
      <PageHead
        title="Addresses"
        about="Clients that are not let in on protected sites; in force within seconds, without an apply."
      >
        <input
          class="input"
          aria-label="Search addresses"
          placeholder="Part of an address"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Show when={mayAs('operator')}>
          <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
            Deny
          </Button>
        </Show>
      </PageHead>
      <Card isFlush>
        <AddressTable of={ofPages(list)} onRemove={(row) => void remove(row)} />
      </Card>
      <ManagedFeed />
      <AddDialog isOpen={isAdding()} onClose={() => setAdding(false)} onAdded={list.reload} />
    </>
  );
}
