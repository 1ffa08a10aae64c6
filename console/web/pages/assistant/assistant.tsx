// The assistant: whether it may be asked, a question to it, its settings, and every question that was asked.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Card, Foreign, Notice, PageHead, Pairs } from '../../kit/basics.js';
import { AreaField, SelectField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { assistantText as text } from '../../texts/vm/models/assistant.js';
import { createApplications } from '../vulnerabilities/words.js';
import { AnswerView, type Answer } from './answer.js';
import { Calls } from './calls.js';
import { SettingsForm } from './settings-form.js';

function State(props: { readonly of: Reply<'GET /api/v1/assistant/status'> }): JSX.Element {
  return (
    <Card title={text.state}>
      <Pairs
        of={[
          [
            text.state,
            <>
              <Badge tone={props.of.available ? 'good' : 'neutral'}>
                {props.of.available ? text.available : text.notAvailable}
              </Badge>{' '}
              {props.of.reason ?? ''}
            </>,
          ],
          [text.model, <Foreign text={props.of.model || '–'} max={200} />],
          [text.redaction, text.redactions[props.of.redaction]],
        ]}
      />
    </Card>
  );
}

function Asking(props: { readonly onAsked: () => void }): JSX.Element {
  const applications = createApplications();
  const [application, setApplication] = createSignal('');
  const [question, setQuestion] = createSignal('');
  const [told, setTold] = createSignal<Answer | null>(null);
  const action = createAction();
  const ask = async (): Promise<void> => {
    const id = application();
    const body = { scope: id === '' ? {} : { application_id: id }, question: question() };
    await action.run(async () => setTold(await call('POST /api/v1/assistant/summarize', { body })));
    props.onAsked();
  };
  return (
    <Card title={text.ask}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <p class="muted">{text.askAbout}</p>
        <SelectField
          label={text.application}
          value={application()}
          options={applications.options(text.every)}
          onChange={setApplication}
        />
        <AreaField label={text.question} help={text.questionHelp} value={question()} onInput={setQuestion} rows={2} />
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button type="submit" look="primary" isBusy={action.isBusy()}>
            {text.summarise}
          </Button>
        </div>
        <Show when={told()}>{(answer) => <AnswerView of={answer()} />}</Show>
      </form>
    </Card>
  );
}

function Managed(props: { readonly round: number; readonly onSaved: () => void }): JSX.Element {
  const settings = createQuery('GET /api/v1/assistant/settings');
  const saved = (): void => {
    void settings.reload();
    props.onSaved();
  };
  return (
    <>
      <Read of={settings}>{(data) => <SettingsForm of={data()} onSaved={saved} />}</Read>
      <Calls round={props.round} />
    </>
  );
}

export function Assistant(): JSX.Element {
  const access = createVmAccess();
  const status = createQuery('GET /api/v1/assistant/status');
  const [round, setRound] = createSignal(0);
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <div class="stack">
        <Read of={status}>{(data) => <State of={data()} />}</Read>
        <Show when={status.data()?.may_ask === true}>
          <Asking onAsked={() => setRound((n) => n + 1)} />
        </Show>
        <Show when={access.may('manage_assistant')}>
          <Managed round={round()} onSaved={() => void status.reload()} />
        </Show>
      </div>
    </>
  );
}
