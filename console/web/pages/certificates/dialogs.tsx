// Ordering a certificate, and uploading one that is there already.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Reply } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { certificatesText as text } from '../../texts/apis/certificates.js';

type Order = Body<'POST /api/certificates'>;
type Challenge = NonNullable<Order['challenge']>;

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function OrderDialog(
  props: DialogProps & { readonly offered: Reply<'GET /api/certificates'> | undefined; readonly names: string },
): JSX.Element {
  const [typed, setTyped] = createSignal<string | null>(null);
  const [challenge, setChallenge] = createSignal<Challenge>('http-01');
  const [directory, setDirectory] = createSignal('');
  const action = createAction();
  const names = (): string => typed() ?? props.names;
  const list = (): string[] =>
    names()
      .split(/[\s,]+/)
      .filter((name) => name !== '');
  const send = async (): Promise<void> => {
    const chosen = directory() === '' ? {} : { directory: directory() };
    const body: Order = { names: list(), challenge: challenge(), ...chosen };
    if (!(await action.run(() => call('POST /api/certificates', { body })))) return;
    setTyped(null);
    props.onDone();
  };
  return (
    <Overlay
      isOpen={props.isOpen}
      title={text.orderTitle}
      onClose={props.onClose}
      footer={
        <Button look="primary" isBusy={action.isBusy()} disabled={list().length === 0} onClick={() => void send()}>
          {text.order}
        </Button>
      }
    >
      <Show when={action.problem()}>{(problem) => <Notice tone="danger">{problem()}</Notice>}</Show>
      <p class="muted">{text.orderAbout}</p>
      <TextField
        label={text.names}
        value={names()}
        onInput={setTyped}
        help={text.namesHelp}
        placeholder={text.namesExample}
      />
      <SelectField
        label={text.challenge}
        value={challenge()}
        options={(props.offered?.challenges ?? ['http-01']).map((kind) => [kind, kind] as const)}
        onChange={setChallenge}
        help={text.challengeHelp}
      />
      <SelectField
        label={text.directory}
        value={directory()}
        options={[
          ['', text.anyDirectory] as const,
          ...(props.offered?.directories ?? []).map(({ name }) => [name, name] as const),
        ]}
        onChange={setDirectory}
      />
    </Overlay>
  );
}

export function UploadDialog(props: DialogProps): JSX.Element {
  const [chain, setChain] = createSignal('');
  const [key, setKey] = createSignal('');
  const action = createAction();
  const send = async (): Promise<void> => {
    const body = { chain: chain(), key: key() };
    if (!(await action.run(() => call('POST /api/certificates/upload', { body })))) return;
    setChain('');
    setKey('');
    props.onDone();
  };
  return (
    <Overlay
      isOpen={props.isOpen}
      title={text.uploadTitle}
      onClose={props.onClose}
      footer={
        <Button
          look="primary"
          isBusy={action.isBusy()}
          disabled={chain() === '' || key() === ''}
          onClick={() => void send()}
        >
          {text.upload}
        </Button>
      }
    >
      <Show when={action.problem()}>{(problem) => <Notice tone="danger">{problem()}</Notice>}</Show>
      <p class="muted">{text.uploadAbout}</p>
      <AreaField label={text.chain} value={chain()} onInput={setChain} help={text.chainHelp} />
      <AreaField label={text.key} value={key()} onInput={setKey} help={text.keyHelp} />
    </Overlay>
  );
}
