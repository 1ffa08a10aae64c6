// An operator decides over one client: denied, challenged or slowed down, until when and why.
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Body } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { Button, Notice } from '../../kit/basics.js';
import { SelectField, Switch, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { protectionText as text } from '../../texts/protection.js';

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

export function DecideDialog(props: {
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
