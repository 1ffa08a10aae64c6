// Many findings at once: what is chosen is counted and told before anything is changed, and each that could not be
// changed is told with its reason.
import { createMemo, createSignal, For, Match, Show, Switch, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import type { People } from '../../client/people.js';
import type { VmAccess } from '../../client/vm-access.js';
import { Badge, Button, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { findingsText as text } from '../../texts/vm/findings.js';
import { RequestAcceptance } from '../governance/request-acceptance.js';
import { AskTickets } from '../integrations/ask-tickets.js';
import { integrationsText } from '../../texts/resources/integrations.js';
import { justifications, type Justification } from './finding-moves.js';
import { plain, severities, severityTone, type Finding } from './words.js';

type Bulk = Body<'POST /api/v1/vulnerabilities/bulk'>;
type Done = Reply<'POST /api/v1/vulnerabilities/bulk'>;
type What = 'transition' | 'assign' | 'tag';

/** States that people move findings to, whatever they were; the server refuses what does not fit one of them. */
const states = [
  'triaged',
  'confirmed',
  'in_progress',
  'resolved',
  'false_positive',
  'out_of_scope',
  'reopened',
] as const;
type State = (typeof states)[number];

/** How many of each severity, and of each state: what is going to be changed. */
function Preview(props: { readonly of: readonly Finding[] }): JSX.Element {
  const counted = (of: (finding: Finding) => string): readonly (readonly [string, number])[] => {
    const counts = new Map<string, number>();
    for (const finding of props.of) counts.set(of(finding), (counts.get(of(finding)) ?? 0) + 1);
    return [...counts];
  };
  const bySeverity = createMemo(() => {
    const counts = new Map(counted(({ severity }) => severity));
    return severities.flatMap((name) => (counts.has(name) ? [[name, counts.get(name) ?? 0] as const] : []));
  });
  const byState = createMemo(() => counted(({ status }) => status));
  return (
    <Notice tone="info" title={text.changes(showCount(props.of.length))}>
      <span class="row wrap">
        <For each={bySeverity()}>
          {([name, count]) => <Badge tone={severityTone(name)}>{text.ofKind(count, name)}</Badge>}
        </For>
      </span>
      <span class="row wrap">
        <For each={byState()}>{([name, count]) => <Badge>{text.ofKind(count, plain(name))}</Badge>}</For>
      </span>
    </Notice>
  );
}

function Outcome(props: { readonly of: Done; readonly findings: readonly Finding[] }): JSX.Element {
  const failed = () => props.of.items.filter(({ ok }) => !ok);
  const titleOf = (id: string): string => props.findings.find((one) => one.id === id)?.title ?? id;
  return (
    <Notice tone={props.of.failed === 0 ? 'good' : 'warn'} title={text.changed(props.of.changed, props.of.failed)}>
      <ul class="plain-list stack tight">
        <For each={failed().slice(0, 50)}>
          {({ id, detail }) => (
            <li>
              <Foreign text={titleOf(id)} max={120} />: <span class="muted">{detail}</span>
            </li>
          )}
        </For>
      </ul>
    </Notice>
  );
}

function BulkForm(props: {
  readonly findings: readonly Finding[];
  readonly me: string;
  readonly people: People;
  readonly onChanged: () => void;
}): JSX.Element {
  const [what, setWhat] = createSignal<What>('transition');
  const [to, setTo] = createSignal<State>('triaged');
  const [reason, setReason] = createSignal('');
  const [justification, setJustification] = createSignal<Justification>('component_not_present');
  const [whom, setWhom] = createSignal(props.me);
  const [add, setAdd] = createSignal('');
  const [remove, setRemove] = createSignal('');
  const [done, setDone] = createSignal<Done | null>(null);
  const action = createAction();
  const words = (typed: string): string[] => typed.split(/[\s,]+/).filter((one) => one !== '');
  const asked = (): Omit<Bulk, 'ids'> => {
    if (what() === 'assign') return { action: 'assign', user_id: whom() === '' ? null : whom() };
    if (what() === 'tag') return { action: 'tag', add: words(add()), remove: words(remove()) };
    return {
      action: 'transition',
      to: to(),
      ...(reason().trim() === '' ? {} : { reason: reason() }),
      ...(to() === 'false_positive' ? { justification: justification() } : {}),
    };
  };
  const run = (): Promise<boolean> =>
    action.run(async () => {
      const body = { ids: props.findings.map(({ id }) => id), ...asked() };
      setDone(await call('POST /api/v1/vulnerabilities/bulk', { body }));
      props.onChanged();
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <Preview of={props.findings} />
      <SelectField
        label={text.what}
        value={what()}
        options={[
          ['transition', text.moveThem],
          ['assign', text.assignThem],
          ['tag', text.tagThem],
        ]}
        onChange={setWhat}
      />
      <Switch>
        <Match when={what() === 'transition'}>
          <SelectField
            label={text.newState}
            value={to()}
            options={states.map((name) => [name, plain(name)] as const)}
            onChange={setTo}
          />
          <Show when={to() === 'false_positive'}>
            <SelectField
              label={text.justification}
              value={justification()}
              options={justifications.map((word) => [word, plain(word)] as const)}
              onChange={setJustification}
            />
          </Show>
          <AreaField label={text.why} value={reason()} onInput={setReason} rows={2} />
        </Match>
        <Match when={what() === 'assign'}>
          <SelectField
            label={text.toWhom}
            value={whom()}
            options={props.people.choices('id', [['', text.nobody]])}
            onChange={setWhom}
          />
        </Match>
        <Match when={what() === 'tag'}>
          <TextField label={text.tagsToAdd} help={text.tagsHelp} value={add()} onInput={setAdd} />
          <TextField label={text.tagsToRemove} value={remove()} onInput={setRemove} />
        </Match>
      </Switch>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={done()}>{(of) => <Outcome of={of()} findings={props.findings} />}</Show>
      <div>
        <Button look="primary" type="submit" isBusy={action.isBusy()} disabled={done() !== null}>
          {text.changeThem(showCount(props.findings.length))}
        </Button>
      </div>
    </form>
  );
}

/** What stands above the list while findings are chosen. */
export function BulkBar(props: {
  readonly chosen: readonly Finding[];
  readonly access: VmAccess;
  readonly people: People;
  /** Chooses all that match, up to what one change takes. */
  readonly onAll: () => Promise<void>;
  readonly total: number | null;
  readonly onNone: () => void;
  readonly onChanged: () => void;
}): JSX.Element {
  const [open, setOpen] = createSignal<'change' | 'accept' | 'tickets' | null>(null);
  let isDone = false;
  /** What was chosen stays chosen until something was done about it. */
  const close = (): void => {
    setOpen(null);
    if (isDone) props.onNone();
    isDone = false;
  };
  const changed = (): void => {
    isDone = true;
    props.onChanged();
  };
  const asked = (): void => {
    isDone = true;
    close();
  };
  const all = createAction();
  return (
    <Show when={props.chosen.length > 0}>
      <div class="bulk-bar row wrap" role="region" aria-label={text.chosenFindings}>
        <strong>{text.chosen(showCount(props.chosen.length))}</strong>
        <Show when={(props.total ?? 0) > props.chosen.length && props.chosen.length < bulkMax}>
          <Button isSmall isBusy={all.isBusy()} onClick={() => void all.run(props.onAll)}>
            {text.chooseAll(showCount(Math.min(bulkMax, props.total ?? 0)))}
          </Button>
        </Show>
        <Show when={props.access.may('triage_findings')}>
          <Button isSmall look="primary" onClick={() => setOpen('change')}>
            {text.change}
          </Button>
        </Show>
        <Show when={props.access.may('triage_findings')}>
          <Button isSmall onClick={() => setOpen('tickets')}>
            {integrationsText.createMany}
          </Button>
        </Show>
        <Show when={props.access.may('request_acceptance')}>
          <Button isSmall onClick={() => setOpen('accept')}>
            {text.askAcceptance}
          </Button>
        </Show>
        <Button isSmall look="plain" onClick={props.onNone}>
          {text.chooseNone}
        </Button>
        <Show when={all.problem()}>{(found) => <span class="problem">{found()}</span>}</Show>
      </div>
      <Overlay isOpen={open() === 'change'} title={text.changeMany} onClose={close}>
        <BulkForm findings={props.chosen} me={props.access.me()?.id ?? ''} people={props.people} onChanged={changed} />
      </Overlay>
      <Overlay isOpen={open() === 'tickets'} title={integrationsText.createMany} onClose={close}>
        <AskTickets ids={props.chosen.map(({ id }) => id)} onDone={changed} />
      </Overlay>
      <Overlay isOpen={open() === 'accept'} title={text.askAcceptance} onClose={() => setOpen(null)}>
        <RequestAcceptance ids={props.chosen.map(({ id }) => id)} onDone={asked} />
      </Overlay>
    </Show>
  );
}

/** As many as the server changes at once. */
export const bulkMax = 1000;
