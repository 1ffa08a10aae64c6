// Evidence that people added to a finding, the newest first, and a form for more.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Badge, Button, Foreign, ForeignLines, Notice } from '../../../kit/basics.js';
import { AreaField, FileField, SelectField, Switch as Toggle, TextField } from '../../../kit/form.js';
import { Read } from '../../../kit/page-state.js';
import { togetherText as text } from '../../../texts/vm/records/together.js';
import { plain } from '../words.js';

const kinds = ['poc', 'request', 'response', 'exchange', 'stack', 'log', 'note'] as const;
type Kind = (typeof kinds)[number];
const textMax = 5000;

function Form(props: { readonly id: string; readonly onAdded: () => void }): JSX.Element {
  const [kind, setKind] = createSignal<Kind>('poc');
  const [title, setTitle] = createSignal('');
  const [words, setWords] = createSignal('');
  const [file, setFile] = createSignal<File | null>(null);
  const [isProof, setProof] = createSignal(false);
  const action = createAction();
  const save = async (): Promise<void> => {
    const form = new FormData();
    for (const [name, value] of [
      ['kind', kind()],
      ['title', title()],
      ...(words().trim() === '' ? [] : [['text', words()] as const]),
      ...(isProof() ? [['proof', 'exploit'] as const] : []),
    ] as const)
      form.set(name, value);
    // what is typed alone goes as a file of its own, since the endpoint takes one with the fields
    form.set('file', file() ?? new File([words()], 'evidence.txt', { type: 'text/plain' }));
    const params = { id: props.id };
    if (await action.run(() => call('POST /api/v1/vulnerabilities/{id}/evidence', { params, form }))) props.onAdded();
  };
  return (
    <div class="stack tight">
      <SelectField
        label={text.kind}
        value={kind()}
        options={kinds.map((one) => [one, plain(one)] as const)}
        onChange={(one) => setKind(one)}
      />
      <TextField label={text.evidenceTitle} value={title()} onInput={setTitle} />
      <AreaField label={text.text} value={words()} onInput={setWords} rows={4} />
      <FileField label={text.file} help={text.fileHelp} onChosen={setFile} />
      <Toggle label={text.proves} isOn={isProof()} onChange={setProof} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button
          isSmall
          isBusy={action.isBusy()}
          disabled={title().trim() === '' || (words().trim() === '' && file() === null)}
          onClick={() => void save()}
        >
          {text.save}
        </Button>
      </div>
    </div>
  );
}

export function AddedEvidence(props: {
  readonly id: string;
  readonly mayAdd: boolean;
  readonly onChanged: () => void;
}): JSX.Element {
  const found = createQuery('GET /api/v1/vulnerabilities/{id}/evidence', () => ({ params: { id: props.id } }));
  const [isAdding, setAdding] = createSignal(false);
  const added = (): void => {
    setAdding(false);
    void found.reload();
    props.onChanged();
  };
  return (
    <section class="stack tight">
      <h3>{text.evidence}</h3>
      <Read of={found}>
        {(data) => (
          <For each={data().items.filter(({ id }) => id !== null)} fallback={<p class="muted">{text.noEvidence}</p>}>
            {(one) => (
              <div class="stack tight">
                <span class="row wrap">
                  <Badge>{plain(one.kind)}</Badge>
                  <Foreign text={one.title} max={300} />
                  <Show when={one.proof !== null}>
                    <Badge tone="danger">{text.proven}</Badge>
                  </Show>
                </span>
                <For each={[one.request, one.response, one.text]}>
                  {(words) => <Show when={words}>{(shown) => <ForeignLines text={shown()} max={textMax} />}</Show>}
                </For>
                <Show when={one.file}>{(file) => <Foreign text={`${file().name} ${file().sha256}`} max={300} />}</Show>
                <span class="small faint">
                  <Foreign text={one.created_by ?? ''} max={100} /> {showMoment(one.created_at)}
                </span>
              </div>
            )}
          </For>
        )}
      </Read>
      <Show when={props.mayAdd}>
        <div>
          <Button isSmall onClick={() => setAdding((is) => !is)}>
            {text.add}
          </Button>
        </div>
        <Show when={isAdding()}>
          <Form id={props.id} onAdded={added} />
        </Show>
      </Show>
    </section>
  );
}
