// A finding that a person writes, corrects, or takes away: what no tool reports, or reports wrongly.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Body, type Reply } from '../../../client/http.js';
import { Button, Foreign, Notice } from '../../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../../kit/form.js';
import { Confirm, tell } from '../../../kit/overlays.js';
import { byHandText as text } from '../../../texts/vm/by-hand.js';
import { severities, type Applications } from '../words.js';

type Detail = Reply<'GET /api/v1/vulnerabilities/{id}'>;
type Severity = Body<'POST /api/v1/vulnerabilities'>['severity'];

const listOf = (written: string): string[] => written.split(/[\s,]+/).filter(Boolean);

/** What a person may say of a finding, with what was said before. */
function createFields(before: Detail | null) {
  const [title, setTitle] = createSignal(before?.title ?? '');
  const [severity, setSeverity] = createSignal<Severity>((before?.severity as Severity | undefined) ?? 'medium');
  const [location, setLocation] = createSignal(before?.location ?? '');
  const [cwe, setCwe] = createSignal((before?.cwe ?? []).join(', '));
  const [ids, setIds] = createSignal((before?.vuln_ids ?? []).join(', '));
  const [description, setDescription] = createSignal(before?.description ?? '');
  const body = () => ({
    title: title().trim(),
    severity: severity(),
    location: location().trim(),
    cwe: listOf(cwe()),
    vuln_ids: listOf(ids()),
    description: description(),
  });
  const set = { setTitle, setSeverity, setLocation, setCwe, setIds, setDescription };
  return { title, severity, location, cwe, ids, description, body, ...set };
}

function Fields(props: { readonly of: ReturnType<typeof createFields> }): JSX.Element {
  return (
    <>
      <TextField label={text.title} value={props.of.title()} onInput={props.of.setTitle} isRequired />
      <SelectField
        label={text.severity}
        value={props.of.severity()}
        options={severities.map((name) => [name, name] as const)}
        onChange={props.of.setSeverity}
      />
      <TextField
        label={text.location}
        value={props.of.location()}
        onInput={props.of.setLocation}
        help={text.locationHelp}
      />
      <TextField label={text.cwe} value={props.of.cwe()} onInput={props.of.setCwe} help={text.cweHelp} />
      <TextField
        label={text.identifiers}
        value={props.of.ids()}
        onInput={props.of.setIds}
        help={text.identifiersHelp}
      />
      <AreaField label={text.description} value={props.of.description()} onInput={props.of.setDescription} rows={5} />
    </>
  );
}

interface FormProps {
  /** null: a new one. */
  readonly of: Detail | null;
  readonly applications: Applications;
  readonly onSaved: (id: string) => void;
}

export function FindingForm(props: FormProps): JSX.Element {
  const before = props.of;
  const fields = createFields(before);
  const [application, setApplication] = createSignal(before?.application_id ?? '');
  const action = createAction();
  const save = (): Promise<boolean> =>
    action.run(async () => {
      if (before === null) {
        const body = { ...fields.body(), application_id: application() };
        const { id } = await call('POST /api/v1/vulnerabilities', { body });
        tell(text.created(id));
        props.onSaved(id);
        return;
      }
      const options = { params: { id: before.id }, body: fields.body(), ifMatch: `"${before.version}"` };
      await call('PATCH /api/v1/vulnerabilities/{id}', options);
      tell(text.saved);
      props.onSaved(before.id);
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Show when={before === null}>
        <p class="muted">{text.about}</p>
        <SelectField
          label={text.application}
          value={application()}
          options={props.applications.options(text.choose)}
          onChange={setApplication}
        />
      </Show>
      <Fields of={fields} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button
          look="primary"
          type="submit"
          isBusy={action.isBusy()}
          disabled={fields.title().trim() === '' || application() === ''}
        >
          {text.save}
        </Button>
      </div>
    </form>
  );
}

export function FindingRemoval(props: { readonly of: Detail; readonly onRemoved: () => void }): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const remove = async (): Promise<void> => {
    const params = { id: props.of.id };
    if (!(await action.run(() => call('DELETE /api/v1/vulnerabilities/{id}', { params })))) return;
    tell(text.deleted);
    props.onRemoved();
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>{text.delete}</Button>
      <Confirm
        isOpen={isAsking()}
        title={text.deleteTitle}
        action={text.delete}
        isBusy={action.isBusy()}
        onConfirm={() => void remove()}
        onClose={() => setAsking(false)}
      >
        <p>
          <Foreign text={props.of.title} max={300} />
        </p>
        <p>{text.deleteAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
