// Backups at their place: verified by a restore into a scratch database, restored after a confirmation, removed.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, linkTo, type Item, type Reply } from '../../client/http.js';
import { showBytes, showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { TextField } from '../../kit/form.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { backupsText as text } from '../../texts/vm/backups.js';

type Stored = Item<'GET /api/v1/backups'>;
type Asked = { readonly what: 'verify' | 'restore' | 'remove'; readonly of: Stored };

const everyMs = 15_000;
const textMax = 2000;

function Verified(props: { readonly of: Stored['verified'] }): JSX.Element {
  return (
    <Show when={props.of} fallback={text.notRestored}>
      {(found) => (
        <span title={found().error ?? showMoment(found().at)}>
          <Badge tone={found().ok ? 'good' : 'danger'}>{found().ok ? text.restoredOnce : text.damaged}</Badge>
        </span>
      )}
    </Show>
  );
}

function KeyField(props: { readonly value: string; readonly onInput: (value: string) => void }): JSX.Element {
  return (
    <TextField
      label={text.key}
      type="password"
      autocomplete="off"
      value={props.value}
      onInput={props.onInput}
      help={text.keyHelp}
    />
  );
}

/** With the key, which goes along once and is stored nowhere. */
function VerifyDialog(props: {
  readonly of: Stored;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): JSX.Element {
  const action = createAction();
  const [key, setKey] = createSignal('');
  const start = async (): Promise<void> => {
    const body = key() === '' ? {} : { key: key() };
    if (!(await action.run(() => call('POST /api/v1/backups/{id}/verify', { params: { id: props.of.id }, body }))))
      return;
    tell(text.verifying);
    props.onDone();
  };
  return (
    <Overlay
      isOpen
      title={text.verifyTitle}
      onClose={props.onClose}
      footer={
        <Button look="primary" isBusy={action.isBusy()} onClick={() => void start()}>
          {text.verify}
        </Button>
      }
    >
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <p>{text.verifyAbout}</p>
      <KeyField value={key()} onInput={setKey} />
    </Overlay>
  );
}

function RestoreDialog(props: {
  readonly of: Stored;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): JSX.Element {
  const action = createAction();
  const [confirm, setConfirm] = createSignal('');
  const [key, setKey] = createSignal('');
  const start = async (): Promise<void> => {
    const body = { confirm: confirm(), ...(key() === '' ? {} : { key: key() }) };
    if (!(await action.run(() => call('POST /api/v1/backups/{id}/restore', { params: { id: props.of.id }, body }))))
      return;
    tell(text.restoring);
    props.onDone();
  };
  return (
    <Confirm
      isOpen
      title={text.restoreTitle}
      action={text.restore}
      isBusy={action.isBusy()}
      onConfirm={() => void start()}
      onClose={props.onClose}
    >
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <p>{text.restoreAbout}</p>
      <TextField label={text.confirm} value={confirm()} onInput={setConfirm} help={text.confirmHelp(props.of.id)} />
      <KeyField value={key()} onInput={setKey} />
    </Confirm>
  );
}

type AskFor = Readonly<Record<Asked['what'], (of: Stored) => () => void>>;

const columnsOf = (mayRestore: () => boolean, askFor: AskFor): readonly TableColumn<Stored>[] => [
  { title: text.made, class: 'nums', cell: (one) => showMoment(one.made_at), sortBy: (one) => one.made_at },
  { title: text.fileName, class: 'mono', isMinor: true, cell: ({ id }) => id },
  { title: text.size, isNumber: true, cell: ({ bytes }) => showBytes(bytes), sortBy: ({ bytes }) => bytes },
  { title: text.rows, isNumber: true, isMinor: true, cell: ({ rows }) => (rows === null ? '' : showCount(rows)) },
  { title: text.sealed, cell: ({ sealed }) => (sealed ? text.sealedWhole : text.sealedSecrets) },
  { title: text.restoredOnceTitle, cell: ({ verified }) => <Verified of={verified} /> },
  {
    title: text.doWith,
    isTitleHidden: true,
    cell: (of) => (
      <span class="row wrap">
        <Button isSmall onClick={askFor.verify(of)}>
          {text.verify}
        </Button>
        <Show when={mayRestore() && of.sealed}>
          <a
            class="button small"
            href={linkTo('GET /api/v1/backups/{id}/download', undefined, { id: of.id })}
            download={of.id}
          >
            {text.download}
          </a>
        </Show>
        <Show when={mayRestore()}>
          <Button isSmall onClick={askFor.restore(of)}>
            {text.restore}
          </Button>
        </Show>
        <Button isSmall look="plain" onClick={askFor.remove(of)}>
          {text.remove}
        </Button>
      </span>
    ),
  },
];

function LastRestore(props: { readonly of: NonNullable<Reply<'GET /api/v1/backups'>['last_restore']> }): JSX.Element {
  return (
    <Notice tone={props.of.ok ? 'good' : 'danger'} title={props.of.ok ? text.lastRestore : text.lastRestoreFailed}>
      {text.lastRestoreOf(props.of.id, showMoment(props.of.at), props.of.by)}{' '}
      <Show when={!props.of.ok}>
        <Foreign text={props.of.said} max={textMax} />
      </Show>
    </Notice>
  );
}

export function StoredBackups(): JSX.Element {
  const access = createVmAccess();
  const backups = createQuery('GET /api/v1/backups', () => ({}), { everyMs });
  const action = createAction();
  const [asked, ask] = createSignal<Asked | null>(null);
  const asking = (what: Asked['what']) => (of: Stored) => () => void ask({ what, of });
  const askFor: AskFor = { verify: asking('verify'), restore: asking('restore'), remove: asking('remove') };
  const done = (): void => {
    ask(null);
    void backups.reload();
  };
  const remove = async (id: string): Promise<void> => {
    if (await action.run(() => call('DELETE /api/v1/backups/{id}', { params: { id } }))) done();
  };
  const isFor = (what: Asked['what']): Asked | undefined =>
    asked()?.what === what ? (asked() ?? undefined) : undefined;
  return (
    <>
      <Show when={backups.data()?.hindrance}>{(why) => <Notice tone="warn">{why()}</Notice>}</Show>
      <Show when={backups.data()?.last_restore}>{(last) => <LastRestore of={last()} />}</Show>
      <Card title={text.stored} isFlush>
        <Table
          label={text.stored}
          columns={columnsOf(() => access.may('restore_backups'), askFor)}
          of={ofQuery(backups, ({ items }) => items)}
          keyOf={({ id }) => id}
          empty={text.noneStored}
        />
      </Card>
      <Show when={isFor('verify')} keyed>
        {(one) => <VerifyDialog of={one.of} onClose={() => ask(null)} onDone={done} />}
      </Show>
      <Show when={isFor('restore')} keyed>
        {(one) => <RestoreDialog of={one.of} onClose={() => ask(null)} onDone={done} />}
      </Show>
      <Show when={isFor('remove')} keyed>
        {(one) => (
          <Confirm
            isOpen
            title={text.removeTitle}
            action={text.remove}
            isBusy={action.isBusy()}
            onConfirm={() => void remove(one.of.id)}
            onClose={() => ask(null)}
          >
            <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
            <p>{text.removeAbout(one.of.id)}</p>
          </Confirm>
        )}
      </Show>
    </>
  );
}
