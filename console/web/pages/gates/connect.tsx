// How a pipeline asks: the commands with the application filled in, and the same question from here.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { useDeparture } from '../../kit/unsaved.js';
import { call } from '../../client/http.js';
import { Button, Card, Notice } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { SelectField, TextField } from '../../kit/form.js';
import { gatesText as text } from '../../texts/vm/gates.js';
import { BadgeAddress } from './badge.js';
import type { Applications } from '../vulnerabilities/words.js';

/** A token that may do what a pipeline has to, for this application alone. */
function Token(props: { readonly name: string; readonly application: string }): JSX.Element {
  const [made, setMade] = createSignal<string | null>(null);
  const action = createAction();
  const make = (): Promise<boolean> =>
    action.run(async () => {
      const name = text.tokenName(props.name.replaceAll(/[\u0000-\u001f]/g, ' '));
      const body = { name, scopes: ['ci' as const], application_ids: [props.application] };
      setMade((await call('POST /api/v1/tokens', { body })).token);
    });
  return (
    <>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show
        when={made()}
        fallback={
          <div>
            <Button isSmall icon="key" isBusy={action.isBusy()} onClick={() => void make()}>
              {text.makeToken}
            </Button>
          </div>
        }
      >
        {(token) => (
          <Notice tone="good" title={text.tokenOnce}>
            <code class="mono">{token()}</code>
            <div>
              <CopyButton of={token()} kind="token" />
            </div>
          </Notice>
        )}
      </Show>
    </>
  );
}

function AskNow(props: { readonly application: string }): JSX.Element {
  const depart = useDeparture();
  const [commit, setCommit] = createSignal('');
  const action = createAction();
  const ask = (): Promise<boolean> =>
    action.run(async () => {
      const body = { application_id: props.application, commit: commit().trim() };
      const { evaluation_id: id } = await call('POST /api/v1/gate/evaluate', { body });
      depart(`/vulnerabilities/gates?verdict_of=${id}`);
    });
  return (
    <Card title={text.evaluate}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <p class="muted">{text.evaluateAbout}</p>
        <TextField label={text.commit} value={commit()} onInput={setCommit} isRequired />
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button look="primary" type="submit" isBusy={action.isBusy()} disabled={commit().trim() === ''}>
            {text.ask}
          </Button>
        </div>
      </form>
    </Card>
  );
}

export function Connect(props: { readonly applications: Applications; readonly mayAsk: boolean }): JSX.Element {
  const [application, setApplication] = createSignal('');
  const commands = (): string => text.commands(window.location.origin, application());
  return (
    <>
      <div class="narrow-grid">
        <SelectField
          label={text.application}
          value={application()}
          options={props.applications.options(text.chooseFirst)}
          onChange={setApplication}
        />
      </div>
      <Show when={application() !== ''}>
        <Card title={text.connect} actions={<CopyButton of={commands()} kind="commands" />}>
          <div class="stack">
            <p class="muted">{text.connectAbout}</p>
            <Token name={props.applications.nameOf(application())} application={application()} />
            <pre class="code">{commands()}</pre>
            <p class="small faint">{text.ciHelp}</p>
          </div>
        </Card>
        <Show when={props.mayAsk}>
          <AskNow application={application()} />
          <BadgeAddress application={application()} />
        </Show>
      </Show>
    </>
  );
}
