// Which model is asked, whether, and how much it is sent.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Reply } from '../../client/http.js';
import { Button, Card, Notice } from '../../kit/basics.js';
import { SelectField, Switch, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { assistantText as text } from '../../texts/vm/models/assistant.js';

type Settings = Reply<'GET /api/v1/assistant/settings'>;
const redactions = Object.entries(text.redactions) as readonly (readonly [Settings['redaction'], string])[];

export function SettingsForm(props: { readonly of: Settings; readonly onSaved: () => void }): JSX.Element {
  const [isEnabled, setEnabled] = createSignal(props.of.enabled);
  const [redaction, setRedaction] = createSignal(props.of.redaction);
  const [address, setAddress] = createSignal(props.of.endpoint);
  const [model, setModel] = createSignal(props.of.model);
  const [key, setKey] = createSignal('');
  const [isKeyRemoved, setKeyRemoved] = createSignal(false);
  const action = createAction();
  const save = async (): Promise<void> => {
    const of = props.of;
    const body: Body<'PUT /api/v1/assistant/settings'> = {
      enabled: isEnabled(),
      redaction: redaction(),
      ...(address() === of.endpoint ? {} : { endpoint: address() }),
      ...(model() === of.model ? {} : { model: model() }),
      ...(key() !== '' ? { key: key() } : isKeyRemoved() ? { key: null } : {}),
    };
    const options = { body, ifMatch: `"${of.version}"` };
    if (!(await action.run(() => call('PUT /api/v1/assistant/settings', options)))) return;
    setKey('');
    setKeyRemoved(false);
    tell(text.saved);
    props.onSaved();
  };
  return (
    <Card title={text.settings}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Switch label={text.enabled} isOn={isEnabled()} onChange={setEnabled} />
        <TextField label={text.endpoint} help={text.endpointHelp} type="url" value={address()} onInput={setAddress} />
        <TextField label={text.model} value={model()} onInput={setModel} />
        <TextField
          label={text.key}
          help={props.of.has_key ? `${text.keyStored} ${text.keyHelp}` : undefined}
          type="password"
          autocomplete="off"
          value={key()}
          onInput={setKey}
        />
        <Show when={props.of.has_key}>
          <Switch label={text.removeKey} isOn={isKeyRemoved()} onChange={setKeyRemoved} />
        </Show>
        <SelectField label={text.redaction} value={redaction()} options={redactions} onChange={setRedaction} />
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button type="submit" look="primary" isBusy={action.isBusy()}>
            {text.save}
          </Button>
        </div>
      </form>
    </Card>
  );
}
