// Nodes on other machines: those that enrolled, tokens that wait for one, and how a node is added, relabelled, revoked.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Notice } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { fleetText as text } from '../../texts/resources/fleet.js';

type Enrolled = Item<'GET /api/nodes/enrolled'>;
type Token = Item<'GET /api/nodes/tokens'>;
type Labels = Readonly<Record<string, string>>;

const showLabels = (labels: Labels): string =>
  Object.entries(labels)
    .sort(([one], [other]) => (one < other ? -1 : 1)) // the database keeps no order
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** null: that is none. */
function readLabels(given: string): Record<string, string> | null {
  const labels: Record<string, string> = {};
  for (const part of given.split(',').map((one) => one.trim())) {
    if (part === '') continue;
    const at = part.indexOf('=');
    if (at < 1 || at === part.length - 1) return null;
    labels[part.slice(0, at).trim()] = part.slice(at + 1).trim();
  }
  return labels;
}

function AddDialog(props: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onMade: () => void;
}): JSX.Element {
  const action = createAction();
  const [labels, setLabels] = createSignal('');
  const [minutes, setMinutes] = createSignal('60');
  const [command, setCommand] = createSignal<string | null>(null);
  const [isWrong, setWrong] = createSignal(false);
  const make = async (): Promise<void> => {
    const read = readLabels(labels());
    setWrong(read === null);
    if (read === null) return;
    const body = { labels: read, expires_in_minutes: Number(minutes()) };
    const isMade = await action.run(async () => {
      setCommand((await call('POST /api/nodes/tokens', { body })).command);
    });
    if (isMade) props.onMade();
  };
  const close = (): void => {
    setCommand(null);
    props.onClose();
  };
  return (
    <Overlay
      isOpen={props.isOpen}
      title={text.add}
      onClose={close}
      footer={
        <Show when={command() === null} fallback={<Button onClick={close}>{text.done}</Button>}>
          <Button look="primary" isBusy={action.isBusy()} onClick={() => void make()}>
            {text.make}
          </Button>
        </Show>
      }
    >
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={isWrong()}>
        <Notice tone="danger">{text.badLabels}</Notice>
      </Show>
      <Show
        when={command()}
        fallback={
          <>
            <TextField label={text.labels} value={labels()} onInput={setLabels} help={text.labelsHelp} />
            <TextField label={text.minutes} value={minutes()} onInput={setMinutes} unit={text.minutesUnit} />
          </>
        }
      >
        {(shown) => (
          <>
            <Notice tone="warn" title={text.onceTitle}>
              {text.onceAbout}
            </Notice>
            <pre class="code">{shown()}</pre>
            <div>
              <CopyButton of={shown()} kind="command" />
            </div>
          </>
        )}
      </Show>
    </Overlay>
  );
}

/** Labels or revocation of one node. */
function NodeDialog(props: {
  readonly node: Enrolled | null;
  readonly isRevoking: boolean;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): JSX.Element {
  const action = createAction();
  const [labels, setLabels] = createSignal<string | null>(null);
  const [isWrong, setWrong] = createSignal(false);
  const close = (): void => {
    setLabels(null);
    setWrong(false);
    props.onClose();
  };
  const go = async (): Promise<void> => {
    const { node } = props;
    const read = readLabels(labels() ?? showLabels(node?.labels ?? {}));
    setWrong(read === null);
    if (node === null || read === null) return;
    const params = { name: node.name };
    const work = (): Promise<unknown> =>
      props.isRevoking
        ? call('POST /api/nodes/enrolled/{name}/revoke', { params })
        : call('PUT /api/nodes/enrolled/{name}/labels', { params, body: { labels: read } });
    if (!(await action.run(work))) return;
    if (props.isRevoking) tell(text.revoked(node.name));
    close();
    props.onDone();
  };
  return (
    <Overlay
      isOpen={props.node !== null}
      title={props.isRevoking ? text.revokeTitle(props.node?.name ?? '') : text.editLabels}
      onClose={close}
      footer={
        <Button look={props.isRevoking ? 'danger' : 'primary'} isBusy={action.isBusy()} onClick={() => void go()}>
          {props.isRevoking ? text.revoke : text.save}
        </Button>
      }
    >
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={isWrong()}>
        <Notice tone="danger">{text.badLabels}</Notice>
      </Show>
      <Show when={!props.isRevoking} fallback={<p>{text.revokeAbout}</p>}>
        <TextField
          label={text.labels}
          value={labels() ?? showLabels(props.node?.labels ?? {})}
          onInput={setLabels}
          help={text.labelsHelp}
        />
      </Show>
    </Overlay>
  );
}

function Waiting(props: { readonly version: number }): JSX.Element {
  const tokens = createQuery('GET /api/nodes/tokens', () => (props.version >= 0 ? {} : {}), { everyMs: 15_000 });
  const action = createAction();
  const withdraw = async ({ id }: Token): Promise<void> => {
    if (await action.run(() => call('DELETE /api/nodes/tokens/{id}', { params: { id } }))) await tokens.reload();
  };
  const columns: readonly TableColumn<Token>[] = [
    { title: text.madeBy, cell: (token) => token.created_by },
    { title: text.labels, class: 'mono', cell: (token) => showLabels(token.labels) },
    {
      title: text.ends,
      class: 'nums',
      sortBy: (token) => token.expires_at,
      cell: (token) => showMoment(token.expires_at),
    },
    {
      title: text.actions,
      isTitleHidden: true,
      cell: (token) => (
        <Button isSmall isBusy={action.isBusy()} onClick={() => void withdraw(token)}>
          {text.withdraw}
        </Button>
      ),
    },
  ];
  return (
    <Card title={text.tokens} isFlush>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Table
        label={text.tokens}
        columns={columns}
        of={ofQuery(tokens, ({ items }) =>
          items.filter((token) => token.used_at === null && Date.parse(token.expires_at) > Date.now()),
        )}
        keyOf={({ id }) => id}
        empty={text.noToken}
      />
    </Card>
  );
}

function Actions(props: { readonly onChoose: (isRevoking: boolean) => void }): JSX.Element {
  return (
    <span class="row">
      <Button isSmall onClick={() => props.onChoose(false)}>
        {text.editLabels}
      </Button>
      <Button isSmall onClick={() => props.onChoose(true)}>
        {text.revoke}
      </Button>
    </span>
  );
}

export function EnrolledNodes(): JSX.Element {
  const nodes = createQuery('GET /api/nodes/enrolled', () => ({}), { everyMs: 5000 });
  const [isAdding, setAdding] = createSignal(false);
  const [chosen, setChosen] = createSignal<{ readonly node: Enrolled; readonly isRevoking: boolean } | null>(null);
  const [version, setVersion] = createSignal(0);
  const columns: readonly TableColumn<Enrolled>[] = [
    { title: text.node, class: 'mono', sortBy: (node) => node.name, cell: (node) => node.name },
    {
      title: text.state,
      cell: (node) => (
        <Badge tone={node.connected ? 'good' : 'warn'}>{node.connected ? text.connected : text.away}</Badge>
      ),
    },
    { title: text.labels, class: 'mono', cell: (node) => showLabels(node.labels) },
    {
      title: text.certificate,
      class: 'nums',
      sortBy: (node) => node.certificate_until,
      cell: (node) => showMoment(node.certificate_until),
    },
    { title: text.joinedBy, cell: (node) => node.joined_by },
    {
      title: text.actions,
      isTitleHidden: true,
      cell: (node) => (
        <Show when={mayAs('admin')}>
          <Actions onChoose={(isRevoking) => setChosen({ node, isRevoking })} />
        </Show>
      ),
    },
  ];
  const isEnabled = (): boolean => nodes.data()?.enabled ?? true;
  return (
    <>
      <Card
        title={text.title}
        isFlush
        actions={
          <Show when={mayAs('admin') && isEnabled()}>
            <Button isSmall icon="plus" onClick={() => setAdding(true)}>
              {text.add}
            </Button>
          </Show>
        }
      >
        <Show when={!isEnabled()}>
          <Notice tone="neutral">{text.disabled}</Notice>
        </Show>
        <Table
          label={text.title}
          columns={columns}
          of={ofQuery(nodes, ({ items }) => items)}
          keyOf={({ name }) => name}
          empty={text.none}
          {...(isEnabled() ? { emptyAbout: text.noneAbout } : {})}
        />
      </Card>
      <Show when={mayAs('admin') && isEnabled()}>
        <Waiting version={version()} />
      </Show>
      <AddDialog isOpen={isAdding()} onClose={() => setAdding(false)} onMade={() => setVersion((at) => at + 1)} />
      <NodeDialog
        node={chosen()?.node ?? null}
        isRevoking={chosen()?.isRevoking ?? false}
        onClose={() => setChosen(null)}
        onDone={() => void nodes.reload()}
      />
    </>
  );
}
