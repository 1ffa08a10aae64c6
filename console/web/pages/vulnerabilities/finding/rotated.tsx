// A secret that was changed where it was issued: how that is known, and its finding waits for the next scan.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { Button, Notice } from '../../../kit/basics.js';
import { AreaField } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { codeRulesText as text } from '../../../texts/vm/sources/code-rules.js';

function Form(props: { readonly id: string; readonly onChanged: () => void }): JSX.Element {
  const [proof, setProof] = createSignal('');
  const action = createAction();
  const save = async (): Promise<void> => {
    const options = { params: { vuln_id: props.id }, body: { proof: proof().trim() } };
    if (!(await action.run(() => call('POST /api/v1/secrets/{vuln_id}/rotated', options)))) return;
    tell(text.rotatedDone);
    props.onChanged();
  };
  return (
    <section class="stack">
      <h3>{text.rotated}</h3>
      <AreaField label={text.rotated} value={proof()} onInput={setProof} help={text.rotatedHelp} rows={2} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button isBusy={action.isBusy()} disabled={proof().trim().length < 3} onClick={() => void save()}>
          {text.rotated}
        </Button>
      </div>
    </section>
  );
}

export function Rotated(props: {
  readonly finding: { readonly id: string; readonly source: string };
  readonly nextStates: readonly string[];
  readonly onChanged: () => void;
}): JSX.Element {
  const mayBe = (): boolean => props.nextStates.some((state) => state === 'fix_pending' || state === 'confirmed');
  return (
    <Show when={props.finding.source === 'secret' && mayBe()}>
      <Form id={props.finding.id} onChanged={props.onChanged} />
    </Show>
  );
}
