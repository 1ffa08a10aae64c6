import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Notice, PageHead, type Tone } from '../../kit/basics.js';
import { Confirm, tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { certificatesText as text } from '../../texts/apis/certificates.js';
import { OrderDialog, UploadDialog } from './dialogs.js';

type Certificate = Item<'GET /api/certificates'>;
type Ending = { readonly of: Certificate; readonly how: 'revoke' | 'remove' };

const everyMs = 5000;
const tones: Readonly<Record<Certificate['state'], Tone>> = {
  waiting: 'info',
  serving: 'good',
  failing: 'warn',
  ended: 'danger',
  revoked: 'neutral',
};
const namesOf = ({ names }: Certificate): string => names.join(', ');

function StateCell(props: { readonly of: Certificate }): JSX.Element {
  return (
    <>
      <Badge tone={tones[props.of.state]}>{text.states[props.of.state]}</Badge>{' '}
      <Show when={props.of.is_ordering}>
        <span class="small">{text.ordering}</span>
      </Show>
      <Show when={props.of.issued?.is_on_nodes === false && props.of.state !== 'revoked'}>
        <span class="small">{text.notOnNodes}</span>
      </Show>
    </>
  );
}

function RowActions(props: {
  readonly of: Certificate;
  readonly onRenew: (one: Certificate) => void;
  readonly onEnd: (ending: Ending) => void;
}): JSX.Element {
  const isOrdered = (): boolean => props.of.source === 'acme' && props.of.state !== 'revoked';
  return (
    <Show when={mayAs('admin')}>
      <div class="row">
        <Show when={isOrdered()}>
          <Button isSmall disabled={props.of.is_ordering} onClick={() => props.onRenew(props.of)}>
            {props.of.issued === null ? text.orderNow : text.renew}
          </Button>
          <Show when={props.of.issued !== null}>
            <Button isSmall onClick={() => props.onEnd({ of: props.of, how: 'revoke' })}>
              {text.revoke}
            </Button>
          </Show>
        </Show>
        <Button isSmall onClick={() => props.onEnd({ of: props.of, how: 'remove' })}>
          {text.remove}
        </Button>
      </div>
    </Show>
  );
}

const columnsOf = (
  onRenew: (one: Certificate) => void,
  onEnd: (ending: Ending) => void,
): readonly TableColumn<Certificate>[] => [
  { title: text.names, class: 'mono', sortBy: namesOf, cell: (one) => namesOf(one) },
  { title: text.state, sortBy: ({ state }) => state, cell: (one) => <StateCell of={one} /> },
  { title: text.sites, cell: ({ sites }) => sites.join(', ') || '–' },
  { title: text.issuer, cell: ({ issued }) => <Foreign text={issued?.by ?? '–'} max={100} /> },
  {
    title: text.ends,
    class: 'nums',
    sortBy: ({ issued }) => issued?.not_after ?? null,
    cell: ({ issued }) => showMoment(issued?.not_after ?? null),
  },
  {
    title: text.next,
    class: 'nums',
    cell: ({ next_attempt_at: at }) => (at === null ? text.never : showMoment(at)),
  },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (one) => <RowActions of={one} onRenew={onRenew} onEnd={onEnd} />,
  },
];

/** What failed, in the words of the authority, and what to do about it. */
function Failures(props: { readonly of: readonly Certificate[] }): JSX.Element {
  return (
    <For each={props.of.filter(({ error, state }) => error !== null && state !== 'revoked')}>
      {(one) => (
        <Notice tone={one.state === 'ended' ? 'danger' : 'warn'} title={text.failed(namesOf(one))}>
          <p>
            <Foreign text={one.error ?? ''} max={1000} />
          </p>
          <p>{one.fix}</p>
          <p class="small">{text.failures(one.attempts, showMoment(one.next_attempt_at))}</p>
        </Notice>
      )}
    </For>
  );
}

function Uncovered(props: { readonly of: readonly string[] }): JSX.Element {
  return (
    <Show when={props.of.length > 0}>
      <Notice tone="info" title={text.uncovered}>
        {props.of.join(', ')}
      </Notice>
    </Show>
  );
}

function EndDialog(props: {
  readonly of: Ending | null;
  readonly isBusy: boolean;
  readonly onEnd: (ending: Ending) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const isRevocation = (): boolean => props.of?.how === 'revoke';
  return (
    <Confirm
      isOpen={props.of !== null}
      title={isRevocation() ? text.revokeTitle : text.removeTitle}
      action={isRevocation() ? text.revoke : text.remove}
      isBusy={props.isBusy}
      onConfirm={() => props.onEnd(props.of as Ending)}
      onClose={() => props.onClose()}
    >
      <Show when={props.of} keyed>
        {({ of, how }) => <p>{how === 'revoke' ? text.revokeAbout(namesOf(of)) : text.removeAbout(namesOf(of))}</p>}
      </Show>
    </Confirm>
  );
}

export function Certificates(): JSX.Element {
  const list = createQuery('GET /api/certificates', () => ({}), { everyMs });
  const [dialog, setDialog] = createSignal<'order' | 'upload' | null>(null);
  const [ending, setEnding] = createSignal<Ending | null>(null);
  const action = createAction();
  const close = (): void => {
    setDialog(null);
    void list.reload();
  };
  const renew = async (one: Certificate): Promise<void> => {
    const isDone = await action.run(() => call('POST /api/certificates/{id}/renew', { params: { id: one.id } }));
    if (isDone) tell(text.renewing(namesOf(one)));
    else tellProblem(new Error(action.problem() ?? ''));
    void list.reload();
  };
  const end = async ({ of, how }: Ending): Promise<void> => {
    const params = { id: of.id };
    const isDone = await action.run(() =>
      how === 'revoke'
        ? call('POST /api/certificates/{id}/revoke', { params })
        : call('DELETE /api/certificates/{id}', { params }),
    );
    if (isDone) tell(how === 'revoke' ? text.revoked(namesOf(of)) : text.removed(namesOf(of)));
    else tellProblem(new Error(action.problem() ?? ''));
    setEnding(null);
    void list.reload();
  };
  return (
    <>
      <PageHead title={text.certificates} about={text.about}>
        <Show when={mayAs('admin')}>
          <Button icon="upload" onClick={() => setDialog('upload')}>
            {text.upload}
          </Button>
          <Button look="primary" icon="plus" onClick={() => setDialog('order')}>
            {text.order}
          </Button>
        </Show>
      </PageHead>
      <Failures of={list.data()?.items ?? []} />
      <Uncovered of={list.data()?.uncovered ?? []} />
      <Card isFlush>
        <Table
          label={text.certificates}
          columns={columnsOf((one) => void renew(one), setEnding)}
          of={ofQuery(list, ({ items }) => items)}
          keyOf={({ id }) => id}
          empty={text.noCertificates}
          emptyAbout={text.noCertificatesAbout}
        />
      </Card>
      <OrderDialog
        isOpen={dialog() === 'order'}
        offered={list.data()}
        names={list.data()?.uncovered.join(' ') ?? ''}
        onClose={close}
        onDone={close}
      />
      <UploadDialog isOpen={dialog() === 'upload'} onClose={close} onDone={close} />
      <EndDialog of={ending()} isBusy={action.isBusy()} onEnd={(of) => void end(of)} onClose={() => setEnding(null)} />
    </>
  );
}
