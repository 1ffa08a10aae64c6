// A report is sent from here, or tried before that: by a format that is known, or by a mapping.
import { A, useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, on, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../../client/http.js';
import { showBytes } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Button, Card, Notice } from '../../../kit/basics.js';
import { FileField, SelectField, Switch, TextField } from '../../../kit/form.js';
import { mappingsText } from '../../../texts/vm/sources/mappings.js';
import { vulnText as text } from '../../../texts/vm/vulnerabilities.js';
import { NeedsApplication } from '../application/needed.js';
import { formatOf } from '../mapping/mappings.js';
import { findingsOf, type Applications } from '../words.js';
import { ImportCounts, type ImportReport } from './counts.js';
import { numbersOf, questionOf } from './question.js';

/** As many as one answer holds. */
const mappingsMax = 500;

interface Result {
  readonly isKept: boolean;
  readonly applicationId: string;
  readonly report: ImportReport;
}

/** The import would resolve most of what is open in its scope (setting vm_import_close_percent). */
const asksToClose = (error: Refused): boolean =>
  error.status === 409 && error.errors.some(({ path }) => path === 'confirm_close');

/** What is sent: the fields first, so that the file can be read as it comes. */
function formOf(fields: Readonly<Record<string, string>>, file: File): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== '') form.set(name, value);
  form.set('file', file);
  return form;
}

function Outcome(props: { readonly of: Result }): JSX.Element {
  return (
    <Notice tone={props.of.isKept ? 'good' : 'info'} title={props.of.isKept ? text.imported : text.wouldDo}>
      <ImportCounts of={props.of.report} />
      <Show when={props.of.isKept}>
        <div>
          <A href={findingsOf(props.of.applicationId)}>{text.seeFindings}</A>
        </div>
      </Show>
    </Notice>
  );
}

function ReportField(props: { readonly bytesMax: number | undefined; readonly onChosen: (file: File | null) => void }) {
  const help = (): string => (props.bytesMax === undefined ? '' : text.reportHelp(showBytes(props.bytesMax)));
  return <FileField label={text.report} help={help()} onChosen={props.onChosen} />;
}

function FormatFields(props: {
  readonly formats: readonly (readonly [string, string])[];
  readonly format: string;
  readonly onFormat: (name: string) => void;
  readonly mode: string;
  readonly onMode: (mode: string) => void;
}): JSX.Element {
  return (
    <>
      <SelectField label={text.format} value={props.format} options={props.formats} onChange={props.onFormat} />
      <SelectField
        label={text.mode}
        value={props.mode}
        options={[
          ['add', text.modeAdd],
          ['sync', text.modeSync],
        ]}
        onChange={props.onMode}
      />
    </>
  );
}

interface Place {
  readonly branch: string;
  readonly onBranch: (branch: string) => void;
  readonly root: string;
  readonly onRoot: (root: string) => void;
}

function PlaceFields(props: Place): JSX.Element {
  return (
    <>
      <TextField label={text.branch} value={props.branch} onInput={props.onBranch} help={text.branchHelp} />
      <TextField label={text.root} value={props.root} onInput={props.onRoot} help={text.rootHelp} />
    </>
  );
}

/** Formats that are known, then the mappings that somebody has written. */
function createFormats() {
  const known = createQuery('GET /api/v1/imports/formats');
  const mappings = createQuery('GET /api/v1/imports/mappings', () => ({ query: { limit: mappingsMax, sort: 'name' } }));
  return {
    bytesMax: (): number | undefined => known.data()?.bytes_max,
    options: createMemo((): readonly (readonly [string, string])[] => [
      ['', text.findOut],
      ...(known.data()?.items ?? []).map(({ name, label }) => [name, label] as const),
      ...(mappings.data()?.items ?? []).map((one) => [formatOf(one), mappingsText.byMapping(one.name ?? '')] as const),
    ]),
  };
}

/** What is being sent, and what became of it. */
function createSending(onImported: () => void) {
  const [result, setResult] = createSignal<Result | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  const [busy, setBusy] = createSignal<'import' | 'preview' | null>(null);
  /** What has to be confirmed, in a sentence; null: nothing. */
  const [asked, setAsked] = createSignal<string | null>(null);
  const [isConfirmed, setConfirmed] = createSignal(false);
  /** What was said is of another report. */
  const forget = (): void => {
    setAsked(null);
    setConfirmed(false);
    setProblem(null);
    setResult(null);
  };
  const send = async (what: 'import' | 'preview', applicationId: string, form: FormData): Promise<void> => {
    setBusy(what);
    setProblem(null);
    setResult(null);
    try {
      const route = what === 'import' ? 'POST /api/v1/imports' : 'POST /api/v1/imports/preview';
      const report = ((await call(route, { form })).report ?? {}) as ImportReport;
      setResult({ isKept: what === 'import', applicationId, report });
      if (what === 'preview') setAsked((before) => questionOf(report) ?? before);
      else {
        setAsked(null);
        setConfirmed(false);
        onImported();
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (asksToClose(error)) setAsked(numbersOf(error.message));
      else setProblem(error.message);
    } finally {
      setBusy(null);
    }
  };
  return { result, problem, busy, asked, isConfirmed, setConfirmed, forget, send };
}

/** Asked before most of what is open is resolved. */
function CloseQuestion(props: { readonly of: ReturnType<typeof createSending> }): JSX.Element {
  return (
    <Show when={props.of.asked()}>
      {(question) => (
        <Notice tone="warn" title={question()}>
          <p>{text.confirmAbout}</p>
          <Switch label={text.confirmClose} isOn={props.of.isConfirmed()} onChange={props.of.setConfirmed} />
        </Notice>
      )}
    </Show>
  );
}

export function Upload(props: { readonly applications: Applications; readonly onImported: () => void }): JSX.Element {
  const [search] = useSearchParams();
  const formats = createFormats();
  const [application, setApplication] = createSignal('');
  const [format, setFormat] = createSignal('');
  const [mode, setMode] = createSignal('add');
  const [branch, setBranch] = createSignal('');
  const [root, setRoot] = createSignal('');
  const [file, setFile] = createSignal<File | null>(null);
  const sending = createSending(() => props.onImported());
  const { problem, busy, result } = sending;
  const asked = (name: string): string => (typeof search[name] === 'string' ? search[name] : '');
  createEffect(() => setApplication((before) => asked('application_id') || before));
  createEffect(() => setFormat((before) => asked('format') || before));
  createEffect(on([application, format, mode, branch, root, file], sending.forget, { defer: true }));
  const send = async (what: 'import' | 'preview'): Promise<void> => {
    const chosen = file();
    if (chosen === null) return;
    const fields = {
      application_id: application(),
      format: format(),
      mode: mode(),
      branch: branch(),
      root: root().trim(),
      confirm_close: sending.isConfirmed() ? 'true' : '',
    };
    await sending.send(what, application(), formOf(fields, chosen));
  };
  const isReady = (): boolean => application() !== '' && file() !== null && busy() === null;
  return (
    <Card title={text.importReport}>
      <div class="stack">
        <NeedsApplication applications={props.applications} text={text.firstApplication} />
        <div class="grid grid-3">
          <SelectField
            label={text.application}
            value={application()}
            options={props.applications.options(text.choose)}
            onChange={setApplication}
          />
          <ReportField bytesMax={formats.bytesMax()} onChosen={setFile} />
          <FormatFields
            formats={formats.options()}
            format={format()}
            onFormat={setFormat}
            mode={mode()}
            onMode={setMode}
          />
          <PlaceFields branch={branch()} onBranch={setBranch} root={root()} onRoot={setRoot} />
        </div>
        <Show when={problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <CloseQuestion of={sending} />
        <div class="row wrap">
          <Button look="primary" isBusy={busy() === 'import'} disabled={!isReady()} onClick={() => void send('import')}>
            {text.importNow}
          </Button>
          <Button isBusy={busy() === 'preview'} disabled={!isReady()} onClick={() => void send('preview')}>
            {text.preview}
          </Button>
        </div>
        <Show when={result()}>{(done) => <Outcome of={done()} />}</Show>
      </div>
    </Card>
  );
}
