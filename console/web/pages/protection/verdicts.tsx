// What operators and the detection engine decided over single clients: denied, challenged or slowed down until a
// moment; and the form that decides.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Body, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { SelectField, Switch, TextField } from '../../kit/form.js';
import { Overlay, tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { engineText } from '../../texts/engine/engine.js';
import { protectionText as text } from '../../texts/protection.js';
import { nameOfKey } from '../engine/words.js';

type Verdict = Item<'GET /api/verdicts'>;
type Action = Body<'POST /api/bans'>['action'];

const actions: readonly (readonly [Action, string])[] = [
  ['deny', text.denyIt],
  ['challenge', text.challengeIt],
  ['throttle', text.throttleIt],
];
const durations = [
  ['600', text.tenMinutes],
  ['3600', text.hour],
  ['86400', text.day],
  ['604800', text.week],
] as const;

function DecideDialog(props: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onDecided: () => void;
}): JSX.Element {
  const [network, setNetwork] = createSignal('');
  const [action, setAction] = createSignal<Action>('challenge');
  const [seconds, setSeconds] = createSignal('600');
  const [reason, setReason] = createSignal('');
  const [isForced, setForced] = createSignal(false);
  const [problem, setProblem] = createSignal<Refused | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const decide = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const made = await call('POST /api/bans', {
        body: {
          network: network().trim(),
          action: action(),
          expires_in_seconds: Number(seconds()),
          reason: reason(),
          ...(isForced() ? { force: true } : {}),
        },
      });
      tell(text.decidedUntil(made.network, made.action, showMoment(made.expires_at)));
      setNetwork('');
      setForced(false);
      props.onDecided();
      props.onClose();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Overlay
      isOpen={props.isOpen}
      title={text.decideOver}
      onClose={props.onClose}
      footer={
        <Button look="primary" isBusy={isBusy()} disabled={network().trim() === ''} onClick={() => void decide()}>
          {text.decide}
        </Button>
      }
    >
      <Show when={problem()}>
        {(found) => (
          <Notice tone="danger">
            <span>{found().message}</span>
            <Show when={found().status === 409}>
              <Switch label={text.evenSo} isOn={isForced()} onChange={setForced} />
            </Show>
          </Notice>
        )}
      </Show>
      <TextField label={text.addressOrNetwork} value={network()} onInput={setNetwork} placeholder="203.0.113.7" />
      <SelectField label={text.action} value={action()} options={actions} onChange={setAction} />
      <SelectField label={text.for} value={seconds()} options={durations} onChange={setSeconds} />
      <TextField label={text.why} value={reason()} onInput={setReason} />
    </Overlay>
  );
}

const Whom = ({ network }: Verdict): JSX.Element => (
  <A href={`/engine?view=history&address=${encodeURIComponent(network)}`}>{nameOfKey(network)}</A>
);

const Added = (one: Verdict): JSX.Element => (
  <>
    {showMoment(one.added_at)}{' '}
    <span class="faint">
      <Foreign text={one.added_by} max={60} />
    </span>
  </>
);

/** Addresses that are denied are on the page of addresses; principals that are stand here. */
export function Verdicts(): JSX.Element {
  const [isDeciding, setDeciding] = createSignal(false);
  const list = createPagedList('GET /api/verdicts', () => ({}));
  const end = async ({ network }: Verdict): Promise<void> => {
    try {
      await call('DELETE /api/verdicts', { query: { network } });
      tell(text.letAgainOnAll(network));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  const columns: readonly TableColumn<Verdict>[] = [
    {
      title: text.client,
      class: 'mono',
      sortBy: (one) => one.network,
      cell: Whom,
    },
    { title: text.action, cell: ({ action }) => <Badge tone="warn">{engineText.enforced[action]}</Badge> },
    { title: text.why, class: 'reasons', cell: ({ reason }) => <Foreign text={reason} max={300} /> },
    {
      title: text.added,
      class: 'nums',
      cell: Added,
    },
    { title: text.ends, class: 'nums', sortBy: (one) => one.expires_at, cell: (one) => showMoment(one.expires_at) },
    {
      title: text.actions,
      isTitleHidden: true,
      cell: (one) => (
        <Show when={mayAs('operator')}>
          <Button isSmall onClick={() => void end(one)}>
            {text.endIt}
          </Button>
        </Show>
      ),
    },
  ];
  return (
    <Card
      isFlush
      title={text.verdicts}
      actions={
        <Show when={mayAs('operator')}>
          <Button icon="plus" onClick={() => setDeciding(true)}>
            {text.decideOver}
          </Button>
        </Show>
      }
    >
      <Table
        label={text.verdicts}
        columns={columns}
        of={ofPages(list)}
        keyOf={({ network }) => network}
        empty={text.noVerdict}
        emptyAbout={text.noVerdictAbout}
      />
      <DecideDialog isOpen={isDeciding()} onClose={() => setDeciding(false)} onDecided={list.reload} />
    </Card>
  );
}
