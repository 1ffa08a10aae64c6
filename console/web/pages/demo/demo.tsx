// The public demo: no login, no data of the installation. What is typed goes to a sandbox that knows the rule set with
// its default settings only.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused, type Reply } from '../../client/http.js';
import { Button, Card, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { Mark } from '../../kit/icons.js';
import { brand, brandSub } from '../../shell/brand.js';
import { demoText as text } from '../../texts/demo.js';
import { examples, type DemoRequest } from './examples.js';
import { Explanation } from './explanation.js';

type Answer = Reply<'POST /api/demo'>;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((name) => [name, name] as const);
const first: DemoRequest = examples[1] ?? { method: 'GET', uri: '/', headers: '', body: '' };

/** Throws Error with the line that is no header. */
function readHeaders(lines: string): [string, string][] {
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(text.badHeader(line));
      return [name, value];
    });
}

function createDemo() {
  const [request, setRequest] = createSignal<DemoRequest>(first);
  const [answer, setAnswer] = createSignal<Answer | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const send = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const { method, uri, headers, body } = request();
      setAnswer(await call('POST /api/demo', { body: { method, uri, headers: readHeaders(headers), body } }));
    } catch (error) {
      const details = error instanceof Refused ? error.errors.map(({ path, reason }) => `${path} ${reason}`) : [];
      setProblem([error instanceof Error ? error.message : String(error), ...details].join(' '));
      setAnswer(null);
    } finally {
      setBusy(false);
    }
  };
  const change = (part: Partial<DemoRequest>): void => void setRequest((before) => ({ ...before, ...part }));
  const take = (example: DemoRequest): void => {
    change(example);
    void send();
  };
  return { request, change, answer, problem, isBusy, send, take };
}

function RequestForm(props: { readonly of: ReturnType<typeof createDemo> }): JSX.Element {
  const { request, change, isBusy, send } = props.of;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void send();
  };
  return (
    <form class="stack" onSubmit={submit}>
      <div class="demo-line">
        <SelectField
          label={text.method}
          value={request().method}
          options={methods}
          onChange={(method) => change({ method })}
        />
        <TextField label={text.target} value={request().uri} onInput={(uri) => change({ uri })} />
      </div>
      <AreaField
        label={text.headers}
        rows={3}
        help={text.headersHelp}
        value={request().headers}
        onInput={(headers) => change({ headers })}
      />
      <AreaField
        label={text.body}
        rows={3}
        help={text.bodyHelp}
        value={request().body}
        onInput={(body) => change({ body })}
      />
      <div>
        <Button type="submit" look="primary" isBusy={isBusy()}>
          {text.send}
        </Button>
      </div>
    </form>
  );
}

export function Demo(): JSX.Element {
  const demo = createDemo();
  return (
    <main class="page demo" id="content">
      <div class="row between wrap">
        <span class="brand">
          <Mark />
          <span>
            {brand} <small>{brandSub}</small>
          </span>
        </span>
        <A class="button" href="/">
          {text.logIn}
        </A>
      </div>
      <div>
        <h1>{text.title}</h1>
        <p class="muted">{text.about}</p>
      </div>
      <section class="stack tight" aria-label={text.examples}>
        <span class="muted">{text.examples}</span>
        <div class="row wrap">
          <For each={examples}>
            {(example) => (
              <Button isSmall disabled={demo.isBusy()} onClick={() => demo.take(example)}>
                {example.title}
              </Button>
            )}
          </For>
        </div>
      </section>
      <div class="grid-2">
        <Card title={text.request}>
          <RequestForm of={demo} />
        </Card>
        <div class="stack" aria-live="polite">
          <Show when={demo.problem()}>{(words) => <Notice tone="danger">{words()}</Notice>}</Show>
          <Show when={demo.answer()} fallback={<Notice tone="neutral">{text.waiting}</Notice>}>
            {(answer) => <Explanation of={answer()} />}
          </Show>
        </div>
      </div>
    </main>
  );
}
