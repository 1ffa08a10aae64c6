// The form of a mute. How much it takes out of sight is counted before it is made, and before its conditions change.
import { createMemo, createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item, type Reply } from '../../client/http.js';
import { dayAfter, endOfDay, showCount } from '../../client/moments.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { governanceText as text } from '../../texts/vm/governance.js';
import type { Applications } from '../vulnerabilities/words.js';
import { changesOf, isSamePredicate, lastDayOf } from './mute-changes.js';
import { bodyOf, findingFields, type Predicate } from './predicate.js';
import { PredicateFields } from './predicate-fields.js';

type Mute = Item<'GET /api/v1/mutes'>;
type Preview = Reply<'POST /api/v1/mutes/preview'>;

interface FormProps {
  /** null: one is made. */
  readonly of: Mute | null;
  readonly applications: Applications;
  readonly onSaved: () => void;
}

const usual: Predicate = { field: 'severity', op: 'lte', value: 'low' };
/** Days for which it holds unless somebody chooses others. */
const usualDays = 90;

/** Findings that are muted already are not among the open ones that are counted. */
function saidOf(count: number, isNew: boolean): string {
  if (count === 0) return isNew ? text.wouldMuteNothing : text.wouldMuteNoMore;
  return isNew ? text.wouldMute(showCount(count)) : text.wouldMuteMore(showCount(count));
}

function Counted(props: { readonly of: Preview; readonly isNew: boolean }): JSX.Element {
  return (
    <Notice tone={props.of.count > 0 ? 'warn' : 'info'}>
      <span>{saidOf(props.of.count, props.isNew)}</span>
      <Show when={!props.isNew}>
        <span>{text.othersAreBack}</span>
      </Show>
      <Show when={props.of.sample.length > 0}>
        <span class="small">{text.such}</span>
        <ul class="plain-list small">
          <For each={props.of.sample.slice(0, 5)}>
            {({ title }) => (
              <li>
                <Foreign text={title} max={120} />
              </li>
            )}
          </For>
        </ul>
      </Show>
    </Notice>
  );
}

/** What is typed. Its application is chosen when it is made, and stays. */
function createDraft(before: Mute | null) {
  const start = (before?.predicate as Predicate | null | undefined) ?? usual;
  const [name, setName] = createSignal(before?.name ?? '');
  const [application, setApplication] = createSignal(before?.application_id ?? '');
  const [reason, setReason] = createSignal(before?.reason ?? '');
  const [until, setUntil] = createSignal(before === null ? dayAfter(Date.now(), usualDays) : lastDayOf(before));
  const [predicate, setPredicate] = createSignal<Predicate>(start);
  return {
    ...{ start, name, setName, application, setApplication, reason, setReason, until, setUntil, predicate },
    setPredicate: (next: Predicate): void => void setPredicate(() => next),
    scope: (): { readonly application_id?: string } => (application() === '' ? {} : { application_id: application() }),
    changes: () =>
      before === null
        ? {}
        : changesOf(before, { name: name(), reason: reason(), predicate: predicate(), until: until() }),
  };
}
type Draft = ReturnType<typeof createDraft>;

/** What was counted is the answer to one question: other conditions have to be counted anew. */
function createCounting(draft: Draft) {
  const asked = createMemo(() => JSON.stringify([draft.predicate(), draft.application()]));
  const [counted, setCounted] = createSignal<{ readonly asked: string; readonly of: Preview } | null>(null);
  const action = createAction();
  return {
    action,
    count: (): Promise<boolean> =>
      action.run(async () => {
        const mine = asked();
        const body = { ...draft.scope(), predicate: bodyOf(draft.predicate()) };
        setCounted({ asked: mine, of: await call('POST /api/v1/mutes/preview', { body }) });
      }),
    current: (): Preview | null => (counted()?.asked === asked() ? (counted()?.of ?? null) : null),
  };
}

async function send(before: Mute | null, draft: Draft): Promise<void> {
  if (before !== null) {
    const ifMatch = `"${before.version}"`;
    await call('PATCH /api/v1/mutes/{id}', { params: { id: before.id }, body: draft.changes(), ifMatch });
    return;
  }
  const body = {
    ...draft.scope(),
    name: draft.name().trim(),
    predicate: bodyOf(draft.predicate()),
    reason: draft.reason().trim(),
    expires_at: endOfDay(draft.until()) ?? draft.until(),
  };
  await call('POST /api/v1/mutes', { body });
}

export function MuteForm(props: FormProps): JSX.Element {
  const before = props.of;
  const draft = createDraft(before);
  const counting = createCounting(draft);
  const saving = createAction();
  const save = async (): Promise<void> => {
    if (!(await saving.run(() => send(before, draft)))) return;
    tell(text.muted);
    props.onSaved();
  };
  const isCounted = (): boolean =>
    counting.current() !== null || (before !== null && isSamePredicate(draft.predicate(), before.predicate));
  const isReady = (): boolean =>
    draft.name().trim() !== '' &&
    draft.reason().trim() !== '' &&
    isCounted() &&
    (before === null || Object.keys(draft.changes()).length > 0);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField label={text.name} value={draft.name()} onInput={draft.setName} isRequired />
      <SelectField
        label={text.application}
        value={draft.application()}
        options={props.applications.options(text.everyApplication)}
        onChange={draft.setApplication}
        isDisabled={before !== null}
      />
      <PredicateFields
        label={text.conditions}
        fields={findingFields}
        start={draft.start}
        onChange={draft.setPredicate}
      />
      <AreaField label={text.reason} value={draft.reason()} onInput={draft.setReason} rows={2} />
      <TextField label={text.until} type="date" value={draft.until()} onInput={draft.setUntil} />
      <Show when={counting.current()}>{(of) => <Counted of={of()} isNew={before === null} />}</Show>
      <Show when={counting.action.problem() ?? saving.problem()}>
        {(found) => <Notice tone="danger">{found()}</Notice>}
      </Show>
      <div class="row wrap">
        <Button isBusy={counting.action.isBusy()} onClick={() => void counting.count()}>
          {text.countThem}
        </Button>
        <Button look="primary" type="submit" isBusy={saving.isBusy()} disabled={!isReady()}>
          {before === null ? text.mute : text.saveMute}
        </Button>
      </div>
    </form>
  );
}
