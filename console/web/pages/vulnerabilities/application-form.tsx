// The fields of an application, for a new one and for one that is there.
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { createProjectOptions, type Application } from './words.js';

const criticalities = ['critical', 'high', 'medium', 'low', 'unknown'] as const;
const exposures = ['internet', 'internal', 'unknown'] as const;
const same = <Word extends string>(words: readonly Word[]): readonly (readonly [Word, string])[] =>
  words.map((word) => [word, word]);

export function ApplicationForm(props: {
  /** null: a new one. */
  readonly of: Application | null;
  readonly onSaved: () => void;
}): JSX.Element {
  const before = props.of;
  const [name, setName] = createSignal(before?.name ?? '');
  const [environment, setEnvironment] = createSignal(before?.environment ?? 'prod');
  const [criticality, setCriticality] = createSignal(before?.business_criticality ?? 'medium');
  const [exposure, setExposure] = createSignal(before?.exposure ?? 'unknown');
  const [owner, setOwner] = createSignal(before?.owner ?? '');
  const [project, setProject] = createSignal(before?.project_id ?? '');
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const projects = createProjectOptions();
  const save = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    const body = {
      name: name().trim(),
      environment: environment().trim(),
      business_criticality: criticality(),
      exposure: exposure(),
      owner: owner(),
      project_id: project() === '' ? null : project(),
    };
    try {
      if (before === null) {
        await call('POST /api/v1/applications', { body });
        tell(text.created(body.name));
      } else {
        const ifMatch = `"${before.version}"`;
        await call('PATCH /api/v1/applications/{id}', { params: { id: before.id }, body, ifMatch });
        tell(text.saved);
      }
      props.onSaved();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Show when={problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <TextField label={text.name} value={name()} onInput={setName} isRequired />
      <TextField label={text.environment} value={environment()} onInput={setEnvironment} />
      <SelectField
        label={text.criticality}
        value={criticality()}
        options={same(criticalities)}
        onChange={setCriticality}
      />
      <SelectField
        label={text.exposure}
        value={exposure()}
        options={same(exposures)}
        onChange={setExposure}
        help={text.exposureHelp}
      />
      <TextField label={text.owner} value={owner()} onInput={setOwner} />
      <SelectField
        label={text.project}
        value={project()}
        options={projects(text.noProject)}
        onChange={setProject}
        help={text.projectHelp}
      />
      <div>
        <Button look="primary" type="submit" isBusy={isBusy()} disabled={name().trim() === ''}>
          {text.save}
        </Button>
      </div>
    </form>
  );
}
