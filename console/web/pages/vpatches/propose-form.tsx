// From a finding to a draft of a patch: what the server cannot know of the attack is asked for, and all of it may be
// left out.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { vpatchText as text } from '../../texts/vm/vpatches.js';

type Strategy = 'positive' | 'strict' | 'signature';

export function ProposeForm(props: { readonly finding: string; readonly onMade: (id: string) => void }): JSX.Element {
  const [strategy, setStrategy] = createSignal<Strategy | ''>('');
  const [parameter, setParameter] = createSignal('');
  const [benign, setBenign] = createSignal('');
  const [method, setMethod] = createSignal('GET');
  const [uri, setUri] = createSignal('');
  const action = createAction();
  const propose = (): Promise<boolean> =>
    action.run(async () => {
      const [how, values] = [strategy(), benign().split('\n').filter(Boolean)];
      const body = {
        vulnerability_id: props.finding,
        ...(how === '' ? {} : { strategy: how }),
        ...(parameter().trim() === '' ? {} : { parameter: parameter().trim() }),
        ...(values.length === 0 ? {} : { benign_values: values }),
        ...(uri().trim() === '' ? {} : { request: { method: method().trim(), uri: uri().trim() } }),
      };
      const { id } = await call('POST /api/v1/vpatches', { body });
      tell(text.proposed);
      props.onMade(id);
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void propose();
      }}
    >
      <p class="muted">{text.proposeAbout}</p>
      <SelectField
        label={text.strategy}
        value={strategy()}
        options={[
          ['', text.asFits],
          ['positive', text.strategies.positive],
          ['strict', text.strategies.strict],
          ['signature', text.strategies.signature],
        ]}
        onChange={setStrategy}
      />
      <div class="grid-2">
        <TextField label={text.method} value={method()} onInput={setMethod} />
        <TextField label={text.uri} help={text.uriHelp} value={uri()} onInput={setUri} />
      </div>
      <TextField label={text.parameter} help={text.parameterHelp} value={parameter()} onInput={setParameter} />
      <AreaField label={text.benign} value={benign()} onInput={setBenign} rows={3} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button look="primary" type="submit" isBusy={action.isBusy()}>
          {text.propose}
        </Button>
      </div>
    </form>
  );
}
