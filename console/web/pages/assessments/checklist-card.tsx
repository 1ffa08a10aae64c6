// The checklist of an assessment: each answer is stored when it is given.
import { A } from '@solidjs/router';
import { createMemo, createSignal, For, Index, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { Badge, Button, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { EntryForm } from '../../kit/resource/entry-form.js';
import { matchOf } from '../../kit/resource/resource-list.js';
import { assessmentsText as text } from '../../texts/resources/assessments.js';
import type { Assessment } from './assessments.js';
import { progressOf, severities, withAnswer, withLines, type Item, type Result, type Severity } from './checklist.js';

const results = Object.entries(text.results) as readonly (readonly [Result, string])[];

export function ProgressBadges(props: { readonly of: readonly Item[] }): JSX.Element {
  const progress = () => progressOf(props.of);
  return (
    <span class="row wrap">
      <span class="nums">{text.answeredOf(progress().answered, progress().all)}</span>
      <Show when={progress().failed > 0}>
        <Badge tone="danger">{text.failed(progress().failed)}</Badge>
      </Show>
    </span>
  );
}

/** The finding of an item that failed, or what writes one. */
function Raised(props: {
  readonly of: Item;
  readonly onRaise: (raise: NonNullable<Item['raise']>) => void;
}): JSX.Element {
  const [isAsked, setAsked] = createSignal(false);
  const [title, setTitle] = createSignal('');
  const [severity, setSeverity] = createSignal<Severity>('medium');
  const ask = (): void => {
    setTitle(props.of.item);
    setAsked(true);
  };
  const raise = async (): Promise<void> => {
    props.onRaise({ title: title().trim(), severity: severity() });
    setAsked(false);
  };
  return (
    <>
      <Show
        when={props.of.vuln_id}
        fallback={
          <Button isSmall onClick={ask} disabled={props.of.raise !== undefined}>
            {text.raise}
          </Button>
        }
      >
        {(id) => <A href={`/vulnerabilities?status=all&finding=${id()}`}>{text.raised(id())}</A>}
      </Show>
      <Overlay isOpen={isAsked()} title={text.raise} onClose={() => setAsked(false)}>
        <EntryForm label={text.raise} isWhole={title().trim() !== ''} send={raise}>
          <p class="muted">{text.raiseAbout}</p>
          <TextField label={text.name} value={title()} onInput={setTitle} isRequired />
          <SelectField
            label={text.severity}
            value={severity()}
            options={severities.map((one) => [one, one] as const)}
            onChange={setSeverity}
          />
        </EntryForm>
      </Overlay>
    </>
  );
}

function ItemRow(props: {
  readonly of: Item;
  readonly onChange: (change: Partial<Item>) => void;
  readonly onRemove: () => void;
}): JSX.Element {
  // a list that comes back must not write over a note that is being typed: only a note that differs is written
  const note = createMemo(() => props.of.note ?? '');
  return (
    <li class="check-item">
      <span>
        <Foreign text={props.of.item} max={300} />
      </span>
      <select
        class="select"
        aria-label={text.result(props.of.item)}
        onChange={(event) => props.onChange({ result: event.currentTarget.value as Result })}
      >
        <For each={results}>
          {([word, title]) => (
            <option value={word} selected={props.of.result === word}>
              {title}
            </option>
          )}
        </For>
      </select>
      <Button look="plain" icon="close" aria-label={text.removeItem(props.of.item)} onClick={props.onRemove} />
      <input
        class="input wide"
        aria-label={text.note(props.of.item)}
        placeholder={text.noNote}
        value={note()}
        onChange={(event) => props.onChange({ note: event.currentTarget.value })}
      />
      <Show when={props.of.result === 'fail'}>
        <div class="wide">
          <Raised of={props.of} onRaise={(raise) => props.onChange({ raise })} />
        </div>
      </Show>
    </li>
  );
}

function AnswerLine(props: { readonly of: Item }): JSX.Element {
  const tone = () => ({ open: 'neutral', pass: 'good', fail: 'danger', na: 'neutral' }) as const;
  return (
    <li class="check-item">
      <span>
        <Foreign text={props.of.item} max={300} />
      </span>
      <span>
        <Badge tone={tone()[props.of.result]}>{text.results[props.of.result]}</Badge>
      </span>
      <Show when={props.of.vuln_id}>
        {(id) => <A href={`/vulnerabilities?status=all&finding=${id()}`}>{text.raised(id())}</A>}
      </Show>
      <Show when={props.of.note}>
        <span class="muted small wide">
          <Foreign text={props.of.note} max={1000} />
        </span>
      </Show>
    </li>
  );
}

function Adding(props: { readonly onAdd: (typed: string) => void }): JSX.Element {
  const [typed, setTyped] = createSignal('');
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        props.onAdd(typed());
        setTyped('');
      }}
    >
      <AreaField label={text.addItems} help={text.checklistHelp} value={typed()} onInput={setTyped} rows={3} />
      <div>
        <Button type="submit" disabled={typed().trim() === ''}>
          {text.add}
        </Button>
      </div>
    </form>
  );
}

/**
 * Answers that are given while one is being stored are stored after it: the newest list is what is sent, under the
 * version that came back.
 */
function createStoring(first: Assessment, keep: (stored: Promise<boolean>) => void) {
  const [items, setItems] = createSignal<readonly Item[]>(first.checklist ?? []);
  const action = createAction();
  let row: Assessment = first;
  let sent: readonly Item[] = items();
  const store = async (): Promise<void> => {
    while (sent !== items()) {
      const mine = items();
      const options = { params: { id: row.id }, body: { checklist: [...mine] }, ifMatch: matchOf(row) };
      row = await call('PATCH /api/v1/assessments/{id}', options);
      sent = mine;
      // findings that were written of it stand in the answer; what was typed meanwhile is newer, and is sent next
      if (mine === items()) setItems((sent = row.checklist ?? []));
    }
  };
  const put = (next: readonly Item[]): void => {
    setItems(next);
    keep(action.run(store));
  };
  return { items, put, problem: action.problem };
}

export function Checklist(props: {
  readonly of: Assessment;
  readonly mayEdit: boolean;
  readonly keep: (stored: Promise<boolean>) => void;
}): JSX.Element {
  const { items, put, problem } = createStoring(props.of, props.keep);
  return (
    <section class="stack">
      <div class="row wrap between">
        <h3>{text.checklist}</h3>
        <ProgressBadges of={items()} />
      </div>
      <Show when={problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={items().length > 0} fallback={<p class="muted">{text.noItems}</p>}>
        <ul class="plain-list">
          <Index each={items()}>
            {(item, at) => (
              <Show when={props.mayEdit} fallback={<AnswerLine of={item()} />}>
                <ItemRow
                  of={item()}
                  onChange={(change) => put(withAnswer(items(), at, change))}
                  onRemove={() => put(items().filter((_, index) => index !== at))}
                />
              </Show>
            )}
          </Index>
        </ul>
        <Show when={props.mayEdit}>
          <p class="muted small">
            {text.each} <A href="/vulnerabilities?add=1">{text.writeFinding}</A>
          </p>
        </Show>
      </Show>
      <Show when={props.mayEdit}>
        <Adding onAdd={(typed) => put(withLines(items(), typed))} />
      </Show>
    </section>
  );
}
