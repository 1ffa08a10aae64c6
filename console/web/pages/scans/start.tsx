// A scan is begun by an upload; what becomes of it stands in the list.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { Button, Card, Notice } from '../../kit/basics.js';
import { FileField, SelectField, Switch, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { scansText as text } from '../../texts/vm/sources/scans.js';
import type { Applications } from '../vulnerabilities/words.js';
import type { Kind } from './kinds.js';

/** The fields first, so that the file can be read as it comes. */
function formOf(application: string, branch: string, isWhole: boolean, file: File): FormData {
  const form = new FormData();
  form.set('application_id', application);
  if (branch !== '') form.set('branch', branch);
  if (isWhole) form.set('covers', 'whole');
  form.set('file', file);
  return form;
}

const begin = async (kind: Kind, form: FormData) => {
  switch (kind) {
    case 'secrets':
      return call('POST /api/v1/secrets/scans', { form });
    case 'sast':
      return call('POST /api/v1/sast/scans', { form });
    case 'sca':
      return call('POST /api/v1/sca/scans', { form });
    case 'iac':
      return call('POST /api/v1/iac/scans', { form });
    case 'k8s':
      return call('POST /api/v1/k8s-posture/scans', { form });
  }
};

export function StartScan(props: {
  readonly kind: Kind;
  readonly applications: Applications;
  readonly onStarted: () => void;
}): JSX.Element {
  const [application, setApplication] = createSignal('');
  const [branch, setBranch] = createSignal('');
  const [isWhole, setWhole] = createSignal(false);
  const [file, setFile] = createSignal<File | null>(null);
  const action = createAction();
  const start = async (): Promise<void> => {
    const chosen = file();
    if (chosen === null) return;
    const isDone = await action.run(async () => {
      const { id } = await begin(props.kind, formOf(application(), branch().trim(), isWhole(), chosen));
      tell(text.started(id));
    });
    if (isDone) props.onStarted();
  };
  return (
    <Card title={text.start}>
      <div class="stack">
        <p>{text.kindAbout[props.kind]}</p>
        <div class="grid grid-3">
          <SelectField
            label={text.application}
            value={application()}
            options={props.applications.options(text.choose)}
            onChange={setApplication}
          />
          <FileField label={text.file} help={text.fileHelp} onChosen={setFile} />
          <TextField label={text.branch} value={branch()} onInput={setBranch} help={text.branchHelp} />
        </div>
        <div>
          <Switch label={text.whole} isOn={isWhole()} onChange={setWhole} />
          <span class="help">{text.wholeHelp}</span>
        </div>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button
            look="primary"
            isBusy={action.isBusy()}
            disabled={application() === '' || file() === null}
            onClick={() => void start()}
          >
            {text.scan}
          </Button>
        </div>
      </div>
    </Card>
  );
}
