// A document is uploaded: what is wrong with it is told with its line; what came of it, with what it changes for
// clients.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused, type FieldProblem, type Query, type Reply } from '../../client/http.js';
import { showBytes, showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { loadSettings } from '../../client/settings-draft.js';
import { Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, FileField, SelectField, Switch, TextField } from '../../kit/form.js';
import { specsText as text } from '../../texts/apis/specs.js';
import { ChangeList } from './comparison.js';

type Result = Reply<'POST /api/spec'>;

/** What the control plane takes (`specBytesMax`). */
const bytesMax = 4 * 1024 * 1024;
const excerptMax = 160;

interface Mistake {
  readonly line: number | null;
  readonly path: string;
  readonly reason: string;
  readonly fix: string;
  readonly excerpt: string;
}

/** The line stands at the end of the reason of a refusal. */
function mistakeOf({ path, reason, fix = '' }: FieldProblem, lines: readonly string[]): Mistake {
  const found = / \(line (\d+)\)$/.exec(reason);
  const line = found === null ? null : Number(found[1]);
  const plain = found === null ? reason : reason.slice(0, found.index);
  return { line, path, reason: plain, fix, excerpt: (lines[(line ?? 0) - 1] ?? '').trim().slice(0, excerptMax) };
}

function MistakeLines(props: { readonly of: readonly Mistake[] }): JSX.Element {
  return (
    <ul class="stack plain-list">
      <For each={props.of}>
        {(one) => (
          <li class="stack tight">
            <span>
              <Show when={one.line !== null}>
                <strong class="nums">{text.line(one.line)}</strong>{' '}
              </Show>
              <Foreign text={`${one.path} ${one.reason}`.trim()} max={600} />
            </span>
            <Show when={one.excerpt !== ''}>
              <code class="small">
                <Foreign text={one.excerpt} max={excerptMax} />
              </code>
            </Show>
            <Show when={one.fix !== ''}>
              <span class="small">
                <Foreign text={one.fix} max={400} />
              </span>
            </Show>
          </li>
        )}
      </For>
    </ul>
  );
}

function Taken(props: { readonly of: Result }): JSX.Element {
  const spec = (): Result['specification'] => props.of.specification;
  const title = (): string =>
    props.of.created ? text.takenAs(spec().version, showCount(spec().operations)) : text.takenBefore(spec().version);
  return (
    <div class="stack">
      <Notice tone="good" title={title()}>
        <span>{spec().in_settings ? text.namedNow : text.notNamed}</span>
        <Show when={spec().in_settings}>
          <div>
            <A href="/admin/changes">{text.toApply}</A>
          </div>
        </Show>
      </Notice>
      <Show when={props.of.problems.length > 0}>
        <Notice tone="warn" title={text.warnings}>
          <MistakeLines of={props.of.problems.map((one) => ({ ...one, excerpt: '' }))} />
        </Notice>
      </Show>
      <Show when={props.of.changes.length > 0}>
        <h3>{text.againstBefore}</h3>
        <ChangeList changes={props.of.changes} />
      </Show>
    </div>
  );
}

function SourceFields(props: {
  readonly value: string;
  readonly onText: (value: string) => void;
  readonly onProblem: (problem: string | null) => void;
}): JSX.Element {
  const read = async (file: File | null): Promise<void> => {
    props.onProblem(null);
    if (file === null) return;
    if (file.size > bytesMax) props.onProblem(text.tooLarge(showBytes(file.size)));
    else props.onText(await file.text());
  };
  return (
    <>
      <FileField
        label={text.file}
        help={text.fileHelp}
        accept=".json,.yaml,.yml"
        onChosen={(file) => void read(file)}
      />
      <AreaField label={text.orText} rows={6} value={props.value} onInput={props.onText} />
    </>
  );
}

interface Form {
  readonly site: string;
  readonly name: string;
  readonly basePath: string;
  /** The settings are to name it at once. */
  readonly activate: boolean;
}

const queryOf = ({ site, name, basePath, activate }: Form): Query<'POST /api/spec'> => ({
  activate,
  ...(site === '' ? {} : { site }),
  ...(name.trim() === '' ? {} : { name: name.trim() }),
  ...(basePath.trim() === '' ? {} : { base_path: basePath.trim() }),
});

/** An upload: what came of the last one, or what is wrong with the document. */
function createUpload(onUploaded: () => void) {
  const [isBusy, setBusy] = createSignal(false);
  const [result, setResult] = createSignal<Result | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  const [mistakes, setMistakes] = createSignal<readonly Mistake[]>([]);
  const send = async (document: string, form: Form): Promise<void> => {
    setBusy(true);
    setProblem(null);
    setMistakes([]);
    setResult(null);
    try {
      setResult(await call('POST /api/spec', { query: queryOf(form), body: { spec: document } }));
      await loadSettings(); // the upload may have saved settings
      onUploaded();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const lines = document.split('\n');
      setMistakes(error.errors.map((one) => mistakeOf(one, lines)));
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, result, problem, mistakes, setProblem, send };
}

export function Upload(props: { readonly onUploaded: () => void }): JSX.Element {
  const sites = createQuery('GET /api/sites');
  const upload = createUpload(() => props.onUploaded());
  const [document, setDocument] = createSignal('');
  const [site, setSite] = createSignal('');
  const [name, setName] = createSignal('');
  const [basePath, setBase] = createSignal('');
  const [activate, setActivate] = createSignal(true);
  const names = (): readonly string[] => (sites.data()?.items ?? []).map((one) => one.name);
  const chosen = (): string => site() || (names()[0] ?? '');
  const send = (): Promise<void> =>
    upload.send(document(), { site: chosen(), name: name(), basePath: basePath(), activate: activate() });
  return (
    <Card title={text.uploadCard}>
      <div class="stack">
        <SourceFields value={document()} onText={setDocument} onProblem={upload.setProblem} />
        <div class="grid-3">
          <SelectField
            label={text.site}
            value={chosen()}
            options={names().length > 0 ? names().map((one) => [one, one] as const) : [['', text.siteDefault]]}
            from={sites}
            onChange={setSite}
          />
          <TextField
            label={text.name}
            value={name()}
            onInput={setName}
            help={text.nameHelp}
            placeholder={text.defaultName}
          />
          <TextField
            label={text.basePath}
            value={basePath()}
            onInput={setBase}
            help={text.basePathHelp}
            placeholder={text.root}
          />
        </div>
        <Switch label={text.alsoName} isOn={activate()} onChange={setActivate} />
        <Show when={upload.problem()}>
          {(found) => {
            const count = (): number => upload.mistakes().length;
            return (
              <Notice tone="danger" title={count() > 0 ? text.notTaken(count()) : found()}>
                <MistakeLines of={upload.mistakes()} />
              </Notice>
            );
          }}
        </Show>
        <div>
          <Button
            look="primary"
            icon="upload"
            isBusy={upload.isBusy()}
            disabled={document().trim() === '' || sites.data() === undefined}
            onClick={() => void send()}
          >
            {text.upload}
          </Button>
        </div>
        <Show when={upload.result()}>{(done) => <Taken of={done()} />}</Show>
      </div>
    </Card>
  );
}
