// Sensors that are registered: each key is shown once; one that is revoked is heard no more.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, linkTo, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Foreign, Notice } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Confirm, Overlay } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { clustersText as text } from '../../texts/vm/models/clusters.js';
import { NeedsApplication } from '../vulnerabilities/application/needed.js';
import type { Applications } from '../vulnerabilities/words.js';

type Sensor = Item<'GET /api/v1/runtime/sensors'>;

/** What is done with one sensor. */
interface Work {
  readonly revoke: (sensor: Sensor) => void;
  readonly flip: (sensor: Sensor) => void;
  readonly rotate: (sensor: Sensor) => void;
}

const columnsOf = (applications: Applications, mayEdit: boolean, work: Work): readonly TableColumn<Sensor>[] => [
  { title: text.sensorName, cell: ({ name }) => <Foreign text={name} max={120} /> },
  {
    title: text.application,
    cell: ({ application_id: id }) => <Foreign text={applications.nameOf(id)} max={80} />,
  },
  { title: text.language, isMinor: true, cell: ({ language }) => <Foreign text={language || '–'} max={60} /> },
  {
    title: text.program,
    isMinor: true,
    cell: ({ agent_version: version, runtime }) => (
      <Foreign text={[version, runtime].filter(Boolean).join(' · ') || '–'} max={60} />
    ),
  },
  { title: text.key, class: 'mono', isMinor: true, cell: ({ key_prefix: prefix }) => `${prefix}…` },
  { title: text.registered, class: 'nums', isMinor: true, cell: ({ created_at: at }) => showMoment(at, true) },
  {
    title: text.heard,
    class: 'nums',
    cell: ({ last_seen_at: at }) => (at === null ? text.never : showMoment(at)),
  },
  {
    title: text.revoke,
    isTitleHidden: true,
    cell: (sensor) => (
      <Show when={sensor.revoked_at === null} fallback={<Badge>{text.revoked}</Badge>}>
        <div class="row wrap">
          <Show when={!sensor.enabled}>
            <Badge>{text.off}</Badge>
          </Show>
          <Show when={mayEdit}>
            <Button
              isSmall
              aria-label={text.switchOne(sensor.enabled ? 'off' : 'on', sensor.name)}
              onClick={() => work.flip(sensor)}
            >
              {sensor.enabled ? text.switchOff : text.switchOn}
            </Button>
            <Button isSmall aria-label={text.newKeyOne(sensor.name)} onClick={() => work.rotate(sensor)}>
              {text.newKey}
            </Button>
            <Button isSmall aria-label={text.revokeOne(sensor.name)} onClick={() => work.revoke(sensor)}>
              {text.revoke}
            </Button>
          </Show>
        </div>
      </Show>
    ),
  },
];

const KeyOnce = (props: { readonly of: string; readonly about: string }): JSX.Element => (
  <Notice tone="good" title={text.keyOnce}>
    <code class="mono">{props.of}</code>
    <div class="row wrap">
      <CopyButton of={props.of} kind="key" />
    </div>
    <p>{props.about}</p>
  </Notice>
);

function Registration(props: { readonly applications: Applications; readonly onDone: () => void }): JSX.Element {
  const [name, setName] = createSignal('');
  const [application, setApplication] = createSignal('');
  const [language, setLanguage] = createSignal('');
  const [key, setKey] = createSignal<string | null>(null);
  const action = createAction();
  const register = (): Promise<boolean> =>
    action.run(async () => {
      const body = { name: name(), application_id: application(), language: language() };
      setKey((await call('POST /api/v1/runtime/sensors', { body })).key);
      props.onDone();
    });
  return (
    <Show
      when={key()}
      fallback={
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void register();
          }}
        >
          <NeedsApplication applications={props.applications} text={text.firstApplication} />
          <SelectField
            label={text.application}
            value={application()}
            options={props.applications.options(text.choose)}
            onChange={setApplication}
          />
          <TextField label={text.sensorName} help={text.sensorNameHelp} value={name()} onInput={setName} isRequired />
          <TextField label={text.language} value={language()} onInput={setLanguage} />
          <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
          <div>
            <Button type="submit" look="primary" isBusy={action.isBusy()} disabled={application() === ''}>
              {text.register}
            </Button>
          </div>
        </form>
      }
    >
      {(made) => <KeyOnce of={made()} about={text.keyAbout} />}
    </Show>
  );
}

function createWork(reload: () => void, revoke: Work['revoke']) {
  const [newKey, setNewKey] = createSignal<string | null>(null);
  const rows = createAction();
  const flip = async ({ id, enabled }: Sensor): Promise<void> => {
    const body = { enabled: !enabled };
    if (await rows.run(() => call('PATCH /api/v1/runtime/sensors/{id}', { params: { id }, body }))) reload();
  };
  const rotate = async ({ id }: Sensor): Promise<void> => {
    const isDone = await rows.run(async () => {
      setNewKey((await call('POST /api/v1/runtime/sensors/{id}/key', { params: { id }, body: {} })).key);
    });
    if (isDone) reload();
  };
  const work: Work = {
    revoke,
    flip: (sensor) => void flip(sensor),
    rotate: (sensor) => void rotate(sensor),
  };
  return { rows, newKey, setNewKey, work };
}

export function Sensors(props: { readonly applications: Applications; readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/runtime/sensors', () => ({}));
  const [isAdding, setAdding] = createSignal(false);
  const [revoking, setRevoking] = createSignal<Sensor | null>(null);
  const action = createAction();
  const { rows, newKey, setNewKey, work } = createWork(list.reload, setRevoking);
  const revoke = async (): Promise<void> => {
    const sensor = revoking();
    if (sensor === null) return;
    const isDone = await action.run(() => call('DELETE /api/v1/runtime/sensors/{id}', { params: { id: sensor.id } }));
    if (!isDone) return;
    setRevoking(null);
    list.reload();
  };
  return (
    <>
      <ListCard
        title={text.sensors}
        label={text.sensors}
        list={list}
        columns={columnsOf(props.applications, props.mayEdit, work)}
        keyOf={({ id }) => id}
        empty={text.noSensors}
        emptyAbout={text.noSensorsAbout}
        actions={
          <div class="row wrap">
            <a class="button" href={linkTo('GET /api/v1/runtime/sensor-package')} download="gatehouse-sensor.tgz">
              {text.packageFile}
            </a>
            <Show when={props.mayEdit}>
              <Button isSmall look="primary" icon="plus" onClick={() => setAdding(true)}>
                {text.newSensor}
              </Button>
            </Show>
          </div>
        }
      />
      <Show when={rows.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Overlay isOpen={newKey() !== null} look="wide" title={text.newKey} onClose={() => setNewKey(null)}>
        <Show when={newKey()}>{(made) => <KeyOnce of={made()} about={text.newKeyAbout} />}</Show>
      </Overlay>
      <Overlay isOpen={isAdding()} look="wide" title={text.newSensor} onClose={() => setAdding(false)}>
        <Show when={isAdding()}>
          <Registration applications={props.applications} onDone={list.reload} />
        </Show>
      </Overlay>
      <Confirm
        isOpen={revoking() !== null}
        title={text.revokeTitle}
        action={text.revoke}
        isBusy={action.isBusy()}
        onConfirm={() => void revoke()}
        onClose={() => setRevoking(null)}
      >
        <p>
          <Foreign text={revoking()?.name ?? ''} max={200} />
        </p>
        <p>{text.revokeAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
