// What can be done from an event: exclude a rule, decide over the client or let it in again, copy the request, keep it
// as the test of a rule.
import { A, useNavigate } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Button, Notice } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { eventsText as words } from '../../texts/events.js';
import { shareText as shareWords } from '../../texts/events/share.js';
import type { RuleTest } from '../rules/rule.js';
import { asCurl, type EventDetails, type StoredField } from './event-text.js';
import type { SecurityEvent } from './events.js';
import { copyAsMarkdown, copyText } from './share/copy.js';
import { ShareDialog } from './share/share-dialog.js';

const headersOf = (event: SecurityEvent): readonly StoredField[] =>
  ((event.details ?? {}) as EventDetails).headers ?? [];

type Decision = 'deny' | 'challenge' | 'throttle';
const spans = [
  ['3600', words.spans.hour],
  ['86400', words.spans.day],
  ['604800', words.spans.week],
] as const;
type Span = (typeof spans)[number][0];

/** Refuses a client, challenges it or slows it down, for a while. */
function DecideOver(props: { readonly clientIp: string }): JSX.Element {
  const [isAsked, setAsked] = createSignal(false);
  const [decision, setDecision] = createSignal<Decision>('deny');
  const [span, setSpan] = createSignal<Span>('86400');
  const action = createAction();
  const decide = async (): Promise<void> => {
    const body = {
      network: props.clientIp,
      action: decision(),
      reason: words.fromSecurityEvent,
      expires_in_seconds: Number(span()),
    };
    if (!(await action.run(() => call('POST /api/bans', { body })))) return;
    tell(words.decided(props.clientIp));
    setAsked(false);
  };
  return (
    <>
      <Button icon="ban" onClick={() => setAsked(true)}>
        {words.decide}
      </Button>
      <Confirm
        isOpen={isAsked()}
        title={words.decideOver(props.clientIp)}
        action={words.decideNow}
        isBusy={action.isBusy()}
        onConfirm={() => void decide()}
        onClose={() => setAsked(false)}
      >
        <div class="stack">
          <SelectField
            label={words.decision}
            value={decision()}
            options={Object.entries(words.decisions) as [Decision, string][]}
            onChange={setDecision}
          />
          <SelectField label={words.howLong} value={span()} options={spans} onChange={setSpan} />
          <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        </div>
      </Confirm>
    </>
  );
}

/** Takes back whatever keeps a client out. */
function LetIn(props: { readonly clientIp: string }): JSX.Element {
  const [isAsked, setAsked] = createSignal(false);
  const action = createAction();
  const letIn = async (): Promise<void> => {
    const query = { subject: props.clientIp, action: 'deny' } as const;
    const isDone = await action.run(() => call('DELETE /api/measures', { query }));
    if (!isDone) return;
    tell(words.letInDone(props.clientIp));
    setAsked(false);
  };
  return (
    <>
      <Button icon="check" onClick={() => setAsked(true)}>
        {words.letIn}
      </Button>
      <Confirm
        isOpen={isAsked()}
        title={words.letInAsk(props.clientIp)}
        action={words.letIn}
        isBusy={action.isBusy()}
        onConfirm={() => void letIn()}
        onClose={() => setAsked(false)}
      >
        <p>{words.letInAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}

/** The request as a test, in the rule that is chosen; bodies are not kept, so it has none. */
function AddTest(props: { readonly event: SecurityEvent }): JSX.Element {
  const navigate = useNavigate();
  const [isAsked, setAsked] = createSignal(false);
  const [rule, setRule] = createSignal('new');
  const [expect, setExpect] = createSignal<RuleTest['expect']>('match');
  const rules = createQuery('GET /api/rules', () => (isAsked() ? {} : null));
  const named = (): readonly (readonly [string, string])[] =>
    (rules.data()?.items ?? []).map(({ rule: one }) => {
      const { id, name } = one as { readonly id?: number; readonly name?: string };
      return [String(id), `${id} ${name ?? ''}`] as const;
    });
  const open = (): void => {
    const headers = headersOf(props.event).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    const { method, uri } = props.event;
    const test: RuleTest = { name: words.testName, expect: expect(), method, uri, headers, body: '' };
    navigate(`/waf/rules/${rule()}`, { state: { test } });
  };
  return (
    <>
      <Button icon="code" onClick={() => setAsked(true)}>
        {words.addTest}
      </Button>
      <Overlay isOpen={isAsked()} title={words.addTest} onClose={() => setAsked(false)}>
        <div class="stack">
          <p class="muted">{words.addTestAbout}</p>
          <SelectField
            label={words.ofRule}
            value={rule()}
            options={[['new', words.newRule], ...named()]}
            onChange={setRule}
          />
          <SelectField
            label={words.testExpect}
            value={expect()}
            options={[
              ['match', words.matchIt],
              ['no_match', words.notMatchIt],
            ]}
            onChange={setExpect}
          />
          <div>
            <Button look="primary" onClick={open}>
              {words.openRule}
            </Button>
          </div>
        </div>
      </Overlay>
    </>
  );
}

/** Rules of the gates that keep a client out by its address: the deny list, and bans. */
const keptOutBy = new Set([1_006_000, 1_006_200, 1_006_201]);

/** A link for readers without a login. */
function Share(props: { readonly event: SecurityEvent }): JSX.Element {
  const [isAsked, setAsked] = createSignal(false);
  return (
    <>
      <Button icon="chain" onClick={() => setAsked(true)}>
        {shareWords.share}
      </Button>
      <Show when={isAsked()}>
        <ShareDialog event={props.event} onClose={() => setAsked(false)} />
      </Show>
    </>
  );
}

export function EventActions(props: { readonly event: SecurityEvent; readonly onExclude: () => void }): JSX.Element {
  const sites = createQuery('GET /api/sites');
  const copy = async (): Promise<void> => {
    const { method, uri } = props.event;
    const base = `http://${location.hostname}:${sites.data()?.port ?? ''}`;
    const text = asCurl({ method, uri, headers: headersOf(props.event) }, base);
    const isCopied = await copyText(text);
    tell(isCopied ? words.copiedBodiesAreNot : shareWords.browserRefuses, !isCopied);
  };
  const copyMarkdown = (): Promise<void> => copyAsMarkdown({ ...props.event, details: props.event.details ?? {} });
  return (
    <div class="row wrap">
      <Show when={mayAs('operator')}>
        <Button icon="tune" onClick={props.onExclude}>
          {words.exclude}
        </Button>
        <Show when={keptOutBy.has(props.event.rule_id ?? 0)} fallback={<DecideOver clientIp={props.event.client_ip} />}>
          <LetIn clientIp={props.event.client_ip} />
        </Show>
        <AddTest event={props.event} />
        <Share event={props.event} />
      </Show>
      <Button icon="list" onClick={() => void copyMarkdown()}>
        {shareWords.copyMarkdown}
      </Button>
      <Button icon="code" disabled={sites.data() === undefined} onClick={() => void copy()}>
        {words.copyAsCurl}
      </Button>
      <A class="button" href={`/requests?request_id=${props.event.request_id}`}>
        {words.requestLog}
      </A>
    </div>
  );
}
