// Asking for tickets: of one finding with those that it has, and of several that were chosen.
import { createMemo, createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { SelectField, Switch, TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { integrationsText as text } from '../../texts/resources/integrations.js';
import { TicketName, TicketState } from './tickets.js';

type Asked = Reply<'POST /api/v1/integrations/{id}/issues'>;

/** As many as the server takes at once. */
const findingsMax = 200;

/** Those that are in use; the first of them is chosen. */
function createChoice() {
  const list = createQuery('GET /api/v1/integrations', () => ({ query: { enabled: true, limit: 100 } }));
  const [chosen, choose] = createSignal<string | null>(null);
  const items = () => list.data()?.items ?? [];
  const id = createMemo(() => chosen() ?? items()[0]?.id ?? '');
  return { list, items, id, choose, options: () => items().map((one) => [one.id, one.name ?? one.id] as const) };
}

function Outcome(props: { readonly of: Asked }): JSX.Element {
  const count = (...states: readonly string[]): number =>
    props.of.items.filter(({ ticket }) => states.includes(ticket.state)).length;
  const errors = () => [...new Set(props.of.items.flatMap(({ ticket }) => ticket.last_error ?? []))].slice(0, 5);
  return (
    <Notice tone={errors().length === 0 ? 'good' : 'warn'}>
      {text.result(count('open', 'closed'), count('queued'), count('failed', 'gone'))}
      <For each={errors()}>
        {(said) => (
          <p>
            <Foreign text={said} max={400} />
          </p>
        )}
      </For>
    </Notice>
  );
}

/** Asks for tickets of these findings. */
export function AskTickets(props: { readonly ids: readonly string[]; readonly onDone: () => void }): JSX.Element {
  const choice = createChoice();
  const [isGrouped, setGrouped] = createSignal(false);
  const [key, setKey] = createSignal('');
  const [done, setDone] = createSignal<Asked | null>(null);
  const action = createAction();
  const ask = (): Promise<boolean> =>
    action.run(async () => {
      const body = {
        vuln_ids: [...props.ids],
        grouped: isGrouped(),
        ...(key().trim() === '' ? {} : { key: key().trim() }),
      };
      setDone(await call('POST /api/v1/integrations/{id}/issues', { params: { id: choice.id() }, body }));
      props.onDone();
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <Read of={choice.list}>
        {() => (
          <Show when={choice.items().length > 0} fallback={<Notice tone="info">{text.none}</Notice>}>
            <SelectField label={text.where} value={choice.id()} options={choice.options()} onChange={choice.choose} />
            <Show when={props.ids.length > 1}>
              <Switch label={text.grouped} isOn={isGrouped()} onChange={setGrouped} />
            </Show>
            <TextField label={text.key} help={text.keyHelp} value={key()} onInput={setKey} />
            <Show when={props.ids.length > findingsMax}>
              <Notice tone="warn">{text.tooMany(findingsMax)}</Notice>
            </Show>
            <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
            <Show when={done()}>{(of) => <Outcome of={of()} />}</Show>
            <div>
              <Button
                look="primary"
                type="submit"
                isBusy={action.isBusy()}
                disabled={done() !== null || props.ids.length > findingsMax}
              >
                {props.ids.length > 1 ? text.createMany : text.create}
              </Button>
            </div>
          </Show>
        )}
      </Read>
    </form>
  );
}

/** The tickets of a finding, and another one. */
export function FindingTickets(props: { readonly id: string; readonly mayAsk: boolean }): JSX.Element {
  const tickets = createQuery('GET /api/v1/integrations/tickets', () => ({ query: { vuln_id: props.id, limit: 50 } }));
  const [isAsking, setAsking] = createSignal(false);
  return (
    <section class="stack tight">
      <h3>{text.tickets}</h3>
      <Read of={tickets}>
        {(data) => (
          <ul class="plain-list stack tight">
            <For each={data().items} fallback={<li class="muted">{text.noTickets}</li>}>
              {(one) => (
                <li class="stack tight">
                  <span class="row wrap">
                    <TicketName of={one} />
                    <TicketState of={one} />
                    <span class="muted">
                      <Foreign text={one.integration} max={80} />
                    </span>
                  </span>
                  <Show when={one.last_error}>
                    {(said) => (
                      <span class="small problem">
                        <Foreign text={said()} max={400} />
                      </span>
                    )}
                  </Show>
                </li>
              )}
            </For>
          </ul>
        )}
      </Read>
      <Show when={props.mayAsk}>
        <Show
          when={isAsking()}
          fallback={
            <div>
              <Button isSmall onClick={() => setAsking(true)}>
                {text.create}
              </Button>
            </div>
          }
        >
          <AskTickets ids={[props.id]} onDone={() => void tickets.reload()} />
        </Show>
      </Show>
    </section>
  );
}
