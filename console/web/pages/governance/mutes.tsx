// Mutes: what is noise goes out of sight, for a reason and for a while; how much that is is counted before.
import { createMemo, createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item, type Reply } from '../../client/http.js';
import { dayAfter, endOfDay, showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import type { VmAccess } from '../../client/vm-access.js';
import { createAsked } from '../../kit/asked.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { governanceText as text } from '../../texts/vm/governance.js';
import type { Applications } from '../vulnerabilities/words.js';
import { namesIn } from './named-values.js';
import { bodyOf, findingFields, sentenceOf, type Predicate } from './predicate.js';
import { PredicateFields } from './predicate-fields.js';

type Mute = Item<'GET /api/v1/mutes'>;
type Preview = Reply<'POST /api/v1/mutes/preview'>;

const start: Predicate = { field: 'severity', op: 'lte', value: 'low' };

function Counted(props: { readonly of: Preview }): JSX.Element {
  return (
    <Notice tone={props.of.count > 0 ? 'warn' : 'info'}>
      <span>{props.of.count > 0 ? text.wouldMute(showCount(props.of.count)) : text.wouldMuteNothing}</span>
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

function NewMute(props: { readonly applications: Applications; readonly onMade: () => void }): JSX.Element {
  const [name, setName] = createSignal('');
  const [application, setApplication] = createSignal('');
  const [reason, setReason] = createSignal('');
  const [until, setUntil] = createSignal(dayAfter(Date.now(), 90));
  const [predicate, setPredicate] = createSignal<Predicate>(start);
  // what was counted is the answer to one question: another predicate has to be counted anew
  const asked = createMemo(() => JSON.stringify([predicate(), application()]));
  const [counted, setCounted] = createSignal<{ readonly asked: string; readonly of: Preview } | null>(null);
  const counting = createAction();
  const making = createAction();
  const scope = (): { readonly application_id?: string } =>
    application() === '' ? {} : { application_id: application() };
  const count = (): Promise<boolean> =>
    counting.run(async () => {
      const mine = asked();
      const of = await call('POST /api/v1/mutes/preview', { body: { ...scope(), predicate: bodyOf(predicate()) } });
      setCounted({ asked: mine, of });
    });
  const make = async (): Promise<void> => {
    const body = {
      ...scope(),
      name: name().trim(),
      predicate: bodyOf(predicate()),
      reason: reason(),
      expires_at: endOfDay(until()) ?? until(),
    };
    if (!(await making.run(() => call('POST /api/v1/mutes', { body })))) return;
    tell(text.muted);
    props.onMade();
  };
  const current = (): Preview | null => (counted()?.asked === asked() ? (counted()?.of ?? null) : null);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <TextField label={text.name} value={name()} onInput={setName} isRequired />
      <SelectField
        label={text.application}
        value={application()}
        options={props.applications.options(text.everyApplication)}
        onChange={setApplication}
      />
      <PredicateFields label={text.conditions} fields={findingFields} start={start} onChange={setPredicate} />
      <AreaField label={text.reason} value={reason()} onInput={setReason} rows={2} />
      <TextField label={text.until} type="date" value={until()} onInput={setUntil} />
      <Show when={current()}>{(of) => <Counted of={of()} />}</Show>
      <Show when={counting.problem() ?? making.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div class="row wrap">
        <Button isBusy={counting.isBusy()} onClick={() => void count()}>
          {text.countThem}
        </Button>
        <Button
          look="primary"
          type="submit"
          isBusy={making.isBusy()}
          disabled={name().trim() === '' || reason().trim() === '' || current() === null}
        >
          {text.mute}
        </Button>
      </div>
    </form>
  );
}

const columnsOf = (
  applications: Applications,
  mayEnd: () => boolean,
  onEnd: (mute: Mute) => void,
): readonly TableColumn<Mute>[] => [
  {
    title: text.name,
    cell: ({ name, reason }) => (
      <div class="stack tight">
        <Foreign text={name} max={120} />
        <span class="small faint">
          <Foreign text={reason} max={200} />
        </span>
      </div>
    ),
  },
  {
    title: text.mutedWhere,
    cell: ({ predicate }) => <Foreign text={sentenceOf(predicate, namesIn(applications))} max={300} />,
  },
  {
    title: text.application,
    cell: ({ application_id: id }) =>
      id === null ? text.everyApplication : <Foreign text={applications.nameOf(id)} max={80} />,
  },
  { title: text.until, class: 'nums', cell: ({ expires_at: at }) => showMoment(at) },
  { title: text.createdBy, cell: ({ created_by: who }) => <Foreign text={who} max={80} /> },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (mute) => (
      <Show when={mayEnd()}>
        <Button isSmall onClick={() => onEnd(mute)}>
          {text.endMute}
        </Button>
      </Show>
    ),
  },
];

export function Mutes(props: { readonly applications: Applications; readonly access: VmAccess }): JSX.Element {
  const list = createPagedList('GET /api/v1/mutes', () => ({}));
  const [isAdding, setAdding] = createAsked('add');
  const [ending, setEnding] = createSignal<Mute | null>(null);
  const action = createAction();
  const mayManage = (): boolean => props.access.may('manage_mutes');
  const end = async (id: string): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/v1/mutes/{id}', { params: { id } })))) return;
    tell(text.ended);
    setEnding(null);
    list.reload();
  };
  return (
    <>
      <ListCard
        label={text.mutes}
        title={text.mutes}
        actions={
          <Show when={mayManage()}>
            <Button isSmall look="primary" icon="plus" onClick={() => setAdding(true)}>
              {text.newMute}
            </Button>
          </Show>
        }
        list={list}
        columns={columnsOf(props.applications, mayManage, setEnding)}
        keyOf={({ id }) => id}
        empty={text.noMutes}
        emptyAbout={text.noMutesAbout}
      />
      <Overlay isOpen={isAdding() && mayManage()} look="wide" title={text.newMute} onClose={() => setAdding(false)}>
        <NewMute
          applications={props.applications}
          onMade={() => {
            setAdding(false);
            list.reload();
          }}
        />
      </Overlay>
      <Confirm
        isOpen={ending() !== null}
        title={text.endMuteAsk}
        action={text.endMute}
        isBusy={action.isBusy()}
        onConfirm={() => void end(ending()?.id ?? '')}
        onClose={() => setEnding(null)}
      >
        <p>
          <Foreign text={ending()?.name} max={200} />
        </p>
        <p>{text.endMuteAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
