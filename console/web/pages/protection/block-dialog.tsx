// An operator blocks clients, challenges them or slows them down: until when, and why.
import { createEffect, createSignal, on, Show, type JSX } from 'solid-js';
import { call, Refused, type Body } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, Switch, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { measuresText as text } from '../../texts/resources/measures.js';
import { listedClients, needsOneRequestEach, oneByOneMax } from './listed-clients.js';

type Action = Body<'POST /api/bans'>['action'];

const actions = Object.entries(text.actionsToTake) as [Action, string][];
const spans = Object.entries(text.spans).map(([seconds, title]) => [seconds, title] as const);
/** Until it is unblocked; only lists of addresses can be blocked so. */
const open = '';
const longest = '2592000';

interface Given {
  readonly clients: string;
  readonly action: Action;
  /** Empty: until it is unblocked. */
  readonly span: string;
  readonly reason: string;
  readonly isForced: boolean;
}

/** What was not done yet stays in the field, where a refusal comes in between. */
async function send(given: Given, leave: (clients: string) => void): Promise<void> {
  const clients = listedClients(given.clients);
  const force = given.isForced ? { force: true } : {};
  const seconds = given.span === open ? {} : { expires_in_seconds: Number(given.span) };
  if (!needsOneRequestEach(given.action, clients)) {
    await call('POST /api/threat-intel', { body: { text: given.clients, reason: given.reason, ...seconds, ...force } });
    return;
  }
  for (const [at, network] of clients.entries()) {
    leave(clients.slice(at).join('\n'));
    await call('POST /api/bans', {
      body: { network, action: given.action, reason: given.reason, ...seconds, ...force },
    });
  }
}

const problemOf = (refused: Refused): string =>
  [refused.message, ...refused.errors.map((one) => `${one.path} ${one.reason}`)].join(' ');

export function BlockDialog(props: {
  readonly isOpen: boolean;
  /** Known beforehand, as from a security event; absent: they are typed. */
  readonly client?: string;
  /** What else of it can be decided about, such as its country; the first is the client. */
  readonly whom?: readonly (readonly [subject: string, label: string])[];
  readonly reason?: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): JSX.Element {
  const [clients, setClients] = createSignal('');
  const [action, setAction] = createSignal<Action>('deny');
  const [span, setSpan] = createSignal('86400');
  const [reason, setReason] = createSignal('');
  const [isForced, setForced] = createSignal(false);
  const [problem, setProblem] = createSignal<Refused | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const begin = (): void => {
    setClients(props.client ?? '');
    setReason(props.reason ?? '');
    setForced(false);
    setProblem(null);
  };
  createEffect(on([() => props.isOpen, () => props.client], ([isOpen]) => isOpen && begin()));
  const isOneByOne = (): boolean => needsOneRequestEach(action(), listedClients(clients()));
  const offered = (): typeof spans => spans.filter(([seconds]) => seconds !== open || !isOneByOne());
  const spanToUse = (): string => (span() === open && isOneByOne() ? longest : span());
  const isTooMany = (): boolean => isOneByOne() && listedClients(clients()).length > oneByOneMax;
  const block = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    const given = { clients: clients(), action: action(), span: spanToUse(), reason: reason(), isForced: isForced() };
    const count = listedClients(given.clients).length;
    try {
      await send(given, setClients);
      tell(text.done[given.action](count === 1 ? given.clients.trim() : text.clientsOf(count)));
      props.onDone();
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
      title={props.client === undefined ? text.block : text.blockOne(clients())}
      onClose={props.onClose}
      footer={
        <Button
          look="danger"
          isBusy={isBusy()}
          disabled={listedClients(clients()).length === 0 || isTooMany()}
          onClick={() => void block()}
        >
          {text.doIt[action()]}
        </Button>
      }
    >
      <Show when={problem()}>
        {(found) => (
          <Notice tone="danger">
            <span>{problemOf(found())}</span>
            <Show when={found().status === 409}>
              <Switch label={text.evenSo} isOn={isForced()} onChange={setForced} />
            </Show>
          </Notice>
        )}
      </Show>
      <Show when={props.client === undefined}>
        <AreaField
          label={text.clients}
          value={clients()}
          onInput={setClients}
          placeholder={'203.0.113.7\n198.51.100.0/24'}
          help={text.clientsHelp}
          problem={isTooMany() ? text.tooMany(oneByOneMax) : null}
        />
      </Show>
      <Show when={(props.whom?.length ?? 0) > 1}>
        <SelectField label={text.whom} value={clients()} options={props.whom ?? []} onChange={setClients} />
      </Show>
      <SelectField label={text.action} value={action()} options={actions} onChange={setAction} />
      <SelectField label={text.for} value={spanToUse()} options={offered()} onChange={setSpan} />
      <TextField label={text.why} value={reason()} onInput={setReason} />
    </Overlay>
  );
}
