// What can be done from an event: exclude a rule, block or unblock the client, copy the request, keep it
// as the test of a rule.
import { A, useNavigate } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Button, Notice } from '../../kit/basics.js';
import { copyAndTell } from '../../kit/copy.js';
import { SelectField } from '../../kit/form.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { eventsText as words } from '../../texts/events.js';
import { measuresText } from '../../texts/resources/measures.js';
import { shareText as shareWords } from '../../texts/events/share.js';
import { BlockDialog } from '../protection/block-dialog.js';
import type { RuleTest } from '../rules/rule.js';
import { asCurl, type EventDetails, type StoredField } from './event-text.js';
import type { SecurityEvent } from './events.js';
import { copyAsMarkdown } from './share/copy.js';
import { ShareDialog } from './share/share-dialog.js';

const headersOf = (event: SecurityEvent): readonly StoredField[] =>
  ((event.details ?? {}) as EventDetails).headers ?? [];

/** The client of an event, and where it is known its autonomous system and country. */
function whomOf({ client_ip: ip, asn, country }: SecurityEvent): readonly (readonly [string, string])[] {
  return [
    [ip, measuresText.onlyAddress(ip)],
    ...(asn === null ? [] : [[`asn:${asn}`, measuresText.wholeAsn(asn)] as const]),
    ...(country === null ? [] : [[`country:${country}`, measuresText.wholeCountry(country)] as const]),
  ];
}

/** Blocks a client, challenges it or slows it down, for a while; where it is known also its network or country. */
function Block(props: { readonly event: SecurityEvent }): JSX.Element {
  const [isAsked, setAsked] = createSignal(false);
  return (
    <>
      <Button icon="ban" onClick={() => setAsked(true)}>
        {words.block}
      </Button>
      <BlockDialog
        isOpen={isAsked()}
        client={props.event.client_ip}
        whom={whomOf(props.event)}
        reason={words.fromSecurityEvent}
        onClose={() => setAsked(false)}
        onDone={() => undefined}
      />
    </>
  );
}

/** Takes back whatever keeps a client out. */
function Unblock(props: { readonly clientIp: string }): JSX.Element {
  const [isAsked, setAsked] = createSignal(false);
  const action = createAction();
  const unblock = async (): Promise<void> => {
    const query = { subject: props.clientIp, action: 'deny' } as const;
    const isDone = await action.run(() => call('DELETE /api/measures', { query }));
    if (!isDone) return;
    tell(words.unblockDone(props.clientIp));
    setAsked(false);
  };
  return (
    <>
      <Button icon="check" onClick={() => setAsked(true)}>
        {words.unblock}
      </Button>
      <Confirm
        isOpen={isAsked()}
        title={words.unblockAsk(props.clientIp)}
        action={words.unblock}
        isBusy={action.isBusy()}
        onConfirm={() => void unblock()}
        onClose={() => setAsked(false)}
      >
        <p>{words.unblockAbout}</p>
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
    await copyAndTell(text, words.copiedBodiesAreNot);
  };
  const copyMarkdown = (): Promise<void> => copyAsMarkdown({ ...props.event, details: props.event.details ?? {} });
  return (
    <div class="row wrap">
      <Show when={mayAs('operator')}>
        <Button icon="tune" onClick={props.onExclude}>
          {words.exclude}
        </Button>
        <Show when={keptOutBy.has(props.event.rule_id ?? 0)} fallback={<Block event={props.event} />}>
          <Unblock clientIp={props.event.client_ip} />
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
