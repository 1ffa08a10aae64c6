// The form of a mapping: which field of a report is what. Names may be taken from a report that is at hand; it is read
// in the browser and sent nowhere.
import { createMemo, createSignal, createUniqueId, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Body, type Item } from '../../../client/http.js';
import { showBytes, showCount } from '../../../client/moments.js';
import { Button, Foreign, Notice } from '../../../kit/basics.js';
import { AreaField, Field, FileField, SelectField, TextField } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { mappingsText as text } from '../../../texts/vm/sources/mappings.js';
import { readSample, type Sample, type SampleName } from './sample.js';
import { readSeverityLines, severityLinesOf, type SeverityProblem } from './severity-lines.js';

export type Mapping = Item<'GET /api/v1/imports/mappings'>;
type NewMapping = Body<'POST /api/v1/imports/mappings'>;
type Format = NewMapping['format'];
export type FieldName = keyof NewMapping['fields'];

export const fieldNames = Object.keys(text.ours) as FieldName[];
const formats = Object.entries(text.formats) as (readonly [Format, string])[];
const sampleBytesMax = 8 * 1024 * 1024;
const sameMax = 10;

const saidOf = ({ line, twice }: SeverityProblem): string =>
  twice === null ? text.severityLine(line) : text.severityTwice(line, twice);

/** What a report at hand offers. Another format, or another place of the list, reads it anew. */
function createSample(format: () => Format, rowsPath: () => string) {
  const [given, setGiven] = createSignal<string | null>(null);
  const [tooLarge, setTooLarge] = createSignal(false);
  const sample = createMemo((): Sample | null => {
    const said = given();
    const as = format();
    // fields of XML are typed: the browser reads no sample of it
    return said === null || as === 'xml' ? null : readSample(said, as, rowsPath());
  });
  const read = async (file: File | null): Promise<void> => {
    setTooLarge(file !== null && file.size > sampleBytesMax);
    setGiven(file === null || tooLarge() ? null : await file.text());
  };
  const names = createMemo((): readonly SampleName[] => {
    const of = sample();
    return of !== null && 'names' in of ? of.names : [];
  });
  const lists = createMemo((): readonly string[] => {
    const of = sample();
    return of !== null && 'lists' in of ? of.lists.filter((path) => path !== '') : [];
  });
  const problem = (): string | null => {
    const of = sample();
    if (tooLarge()) return text.sampleTooLarge(showBytes(sampleBytesMax));
    if (of === null || !('problem' in of)) return null;
    if (of.problem === 'no-json') return text.sampleNoJson(of.detail);
    return of.problem === 'no-head' ? text.sampleNoHead : text.sampleNoList(rowsPath().trim() || text.sampleTop);
  };
  return { read, names, lists, problem };
}
type SampleState = ReturnType<typeof createSample>;

function SampleField(props: { readonly of: SampleState }): JSX.Element {
  return (
    <>
      <FileField
        label={text.sample}
        help={text.sampleHelp}
        problem={props.of.problem()}
        onChosen={(file) => void props.of.read(file)}
      />
      <Show when={props.of.names().length > 0}>
        <Notice tone="info">{text.sampleRead(showCount(props.of.names().length))}</Notice>
      </Show>
    </>
  );
}

/** A name of the report, offered from the sample where there is one. */
function NameField(props: {
  readonly label: string;
  readonly value: string;
  readonly offered: readonly SampleName[];
  readonly help?: JSX.Element;
  readonly problem?: string | null;
  readonly onInput: (value: string) => void;
}): JSX.Element {
  const list = createUniqueId();
  const first = (): string => props.offered.find(({ name }) => name === props.value.trim())?.value ?? '';
  const help = (): JSX.Element => (first() === '' ? props.help : <Foreign text={text.inFirstRow(first())} max={120} />);
  return (
    <Field label={props.label} help={help()} problem={props.problem ?? null}>
      {({ id, describedBy }) => (
        <>
          <input
            id={id}
            class="input"
            value={props.value}
            list={list}
            maxlength={200}
            autocomplete="off"
            spellcheck={false}
            aria-describedby={describedBy}
            aria-invalid={props.problem != null}
            onInput={(event) => props.onInput(event.currentTarget.value)}
          />
          <datalist id={list}>
            <For each={props.offered}>{({ name }) => <option value={name} />}</For>
          </datalist>
        </>
      )}
    </Field>
  );
}

function SameWhen(props: {
  readonly chosen: readonly FieldName[];
  readonly offered: readonly FieldName[];
  readonly onChange: (names: readonly FieldName[]) => void;
}): JSX.Element {
  const choose = (name: FieldName, isIn: boolean): void =>
    props.onChange([...props.chosen.filter((one) => one !== name), ...(isIn ? [name] : [])]);
  return (
    <fieldset class="field bare">
      <legend class="label">{text.sameWhen}</legend>
      <span class="help">{text.sameWhenHelp}</span>
      <div class="row wrap">
        <For each={props.offered}>
          {(name) => (
            <label class="choice">
              <input
                type="checkbox"
                checked={props.chosen.includes(name)}
                disabled={props.chosen.length >= sameMax && !props.chosen.includes(name)}
                onChange={(event) => choose(name, event.currentTarget.checked)}
              />
              <span>{text.ours[name]}</span>
            </label>
          )}
        </For>
      </div>
    </fieldset>
  );
}

/** What is typed, and what is sent of it. */
function createDraft(before: Mapping | null) {
  const [name, setName] = createSignal(before?.name ?? '');
  const [format, setFormat] = createSignal<Format>(before?.format ?? 'json');
  const [rowsPath, setRowsPath] = createSignal(before?.rows_path ?? '');
  const [fields, setFields] = createSignal<Readonly<Partial<Record<FieldName, string>>>>(before?.fields ?? {});
  const [severities, setSeverities] = createSignal(severityLinesOf(before?.severity_map ?? null));
  const [same, setSame] = createSignal<readonly FieldName[]>(before?.fingerprint_fields ?? []);
  const named = createMemo(() => fieldNames.filter((one) => (fields()[one] ?? '').trim() !== ''));
  const read = createMemo(() => readSeverityLines(severities()));
  /** Of those that still have a name. */
  const kept = createMemo(() => same().filter((one) => named().includes(one)));
  return {
    ...{ name, setName, format, setFormat, rowsPath, setRowsPath, fields, severities, setSeverities, setSame, named },
    setField: (one: FieldName, value: string): void => void setFields((all) => ({ ...all, [one]: value })),
    same: kept,
    severityProblem: (): string | null => {
      const of = read();
      return 'problem' in of ? saidOf(of.problem) : null;
    },
    body: () => {
      const of = read();
      return {
        rows_path: format() !== 'csv' ? rowsPath().trim() : '',
        fields: Object.fromEntries(named().map((one) => [one, (fields()[one] ?? '').trim()])),
        severity_map: 'map' in of ? { ...of.map } : {},
        fingerprint_fields: [...kept()],
      };
    },
  };
}
type Draft = ReturnType<typeof createDraft>;

function Names(props: { readonly draft: Draft; readonly sample: SampleState }): JSX.Element {
  return (
    <fieldset class="stack plain-set">
      <legend class="label">{text.fields}</legend>
      <p class="muted small">{text.fieldsAbout}</p>
      <div class="grid grid-4">
        <For each={fieldNames}>
          {(name) => (
            <NameField
              label={text.ours[name]}
              value={props.draft.fields()[name] ?? ''}
              offered={props.sample.names()}
              help={name === 'title' && !props.draft.named().includes('title') ? text.titleNeeded : undefined}
              onInput={(value) => props.draft.setField(name, value)}
            />
          )}
        </For>
      </div>
    </fieldset>
  );
}

function Head(props: { readonly draft: Draft; readonly sample: SampleState; readonly isNew: boolean }): JSX.Element {
  const offered = (): readonly SampleName[] => props.sample.lists().map((name) => ({ name, value: '' }));
  return (
    <div class="grid grid-3">
      <TextField
        label={text.name}
        value={props.draft.name()}
        onInput={props.draft.setName}
        help={text.nameHelp}
        isDisabled={!props.isNew}
        isRequired
      />
      <SelectField
        label={text.format}
        value={props.draft.format()}
        options={formats}
        onChange={props.draft.setFormat}
        isDisabled={!props.isNew}
      />
      <Show when={props.draft.format() !== 'csv'}>
        <NameField
          label={text.rowsPath}
          value={props.draft.rowsPath()}
          offered={offered()}
          help={text.rowsPathHelp}
          onInput={props.draft.setRowsPath}
        />
      </Show>
    </div>
  );
}

/** `of` null: a mapping is made. */
export function MappingForm(props: { readonly of: Mapping | null; readonly onSaved: () => void }): JSX.Element {
  const before = props.of;
  const draft = createDraft(before);
  const sample = createSample(draft.format, draft.rowsPath);
  const action = createAction();
  const save = async (): Promise<void> => {
    const body = draft.body();
    const head = { name: draft.name().trim(), format: draft.format() };
    const isDone = await action.run(() =>
      before === null
        ? call('POST /api/v1/imports/mappings', { body: { ...head, ...body } })
        : call('PATCH /api/v1/imports/mappings/{id}', {
            params: { id: before.id },
            body,
            ifMatch: `"${before.version}"`,
          }),
    );
    if (!isDone) return;
    tell(text.saved);
    props.onSaved();
  };
  const isWhole = (): boolean =>
    draft.name().trim() !== '' && draft.named().includes('title') && draft.severityProblem() === null;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Head draft={draft} sample={sample} isNew={before === null} />
      <SampleField of={sample} />
      <Names draft={draft} sample={sample} />
      <AreaField
        label={text.severities}
        value={draft.severities()}
        onInput={draft.setSeverities}
        help={text.severitiesHelp}
        problem={draft.severityProblem()}
        rows={3}
      />
      <SameWhen chosen={draft.same()} offered={draft.named()} onChange={draft.setSame} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button look="primary" type="submit" isBusy={action.isBusy()} disabled={!isWhole()}>
          {text.save}
        </Button>
      </div>
    </form>
  );
}
