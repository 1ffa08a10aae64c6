// One threat model: its picture, its threats, and what is done with the model as a whole.
import { A, useParams } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { useDeparture } from '../../kit/unsaved.js';
import { call, linkTo, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Button, Card, Foreign, Notice, PageHead, Pairs } from '../../kit/basics.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { matchOf } from '../../kit/resource/resource-list.js';
import { threatModelsText as text } from '../../texts/vm/models/threat-models.js';
import { createApplications, type Applications } from '../vulnerabilities/words.js';
import { ModelForm } from './threat-models.js';
import { Threats } from './threats.js';

type Model = Reply<'GET /api/v1/threat-models/{id}'>;

function Removal(props: { readonly of: Model }): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const depart = useDeparture();
  const remove = async (): Promise<void> => {
    const options = { params: { id: props.of.id }, ifMatch: matchOf(props.of) };
    if (!(await action.run(() => call('DELETE /api/v1/threat-models/{id}', options)))) return;
    tell(text.deleted);
    depart('/vulnerabilities/threat-models');
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
        <p>{text.deleteAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}

/** The picture is asked for anew when the model, or what is decided of it, changes. */
function Picture(props: { readonly of: Model; readonly round: number }): JSX.Element {
  const address = (): string => {
    const of = `${props.of.version}-${props.round}`;
    return linkTo('GET /api/v1/threat-models/{id}/diagram', { of }, { id: props.of.id });
  };
  return (
    <Card title={text.picture}>
      <div class="threat-picture" role="group" tabindex="0" aria-label={text.picture}>
        <Show when={address()} keyed>
          {(found) => <img src={found} alt={text.pictureOf(props.of.name ?? '')} />}
        </Show>
      </div>
    </Card>
  );
}

function Facts(props: { readonly of: Model; readonly applications: Applications }): JSX.Element {
  return (
    <Card title={text.model}>
      <Pairs
        of={[
          [
            text.application,
            <A href={`/vulnerabilities/applications?application=${props.of.application_id}`}>
              <Foreign text={props.applications.nameOf(props.of.application_id)} max={120} />
            </A>,
          ],
          [text.description, <Foreign text={props.of.description || '–'} max={5000} />],
          [text.derivedAt, props.of.generated_at === null ? text.never : showMoment(props.of.generated_at)],
          [text.madeBy, <Foreign text={props.of.created_by ?? ''} max={120} />],
        ]}
      />
      <Show when={(props.of.notes ?? []).length > 0}>
        <Notice tone="warn" title={text.notKept}>
          <ul class="stack tight plain-list">
            <For each={props.of.notes ?? []}>
              {(note) => (
                <li>
                  <Foreign text={note} max={300} />
                </li>
              )}
            </For>
          </ul>
        </Notice>
      </Show>
    </Card>
  );
}

export function ThreatModelPage(): JSX.Element {
  const params = useParams();
  const access = createVmAccess();
  const applications = createApplications();
  const id = (): string => params['id'] ?? '';
  const model = createQuery('GET /api/v1/threat-models/{id}', () => ({ params: { id: id() } }));
  const [round, setRound] = createSignal(0);
  const [isEditing, setEditing] = createSignal(false);
  const action = createAction();
  const again = async (): Promise<void> => {
    await model.reload();
    setRound((n) => n + 1);
  };
  const derive = async (): Promise<void> => {
    const isDone = await action.run(async () => {
      const options = { params: { id: id() }, body: { derive: true } };
      const made = await call('POST /api/v1/threat-models/{id}/generate', options);
      tell(text.derived(showCount(made.threats), showCount(made.created)));
    });
    if (isDone) await again();
  };
  const mayEdit = (): boolean => access.may('edit_threat_models');
  return (
    <>
      <PageHead title={model.data()?.name ?? text.model} about={text.about}>
        <Show when={mayEdit()}>
          <Button look="primary" isBusy={action.isBusy()} onClick={() => void derive()}>
            {text.derive}
          </Button>
          <Button onClick={() => setEditing(true)}>{text.edit}</Button>
          <Show when={model.data()}>{(of) => <Removal of={of()} />}</Show>
        </Show>
        <a
          class="button"
          href={linkTo('GET /api/v1/threat-models/{id}/document', { format: 'yaml' }, { id: id() })}
          download=""
        >
          {text.saveYaml}
        </a>
        <A class="button" href="/vulnerabilities/threat-models">
          {text.all}
        </A>
      </PageHead>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Read of={model}>
        {(data) => (
          <div class="stack">
            <Picture of={data()} round={round()} />
            <Threats model={id()} round={round()} mayEdit={mayEdit()} onDecided={() => void again()} />
            <Facts of={data()} applications={applications} />
            <Overlay isOpen={isEditing()} look="wide" title={text.model} onClose={() => setEditing(false)}>
              <Show when={isEditing()}>
                <ModelForm
                  of={data()}
                  applications={applications}
                  application=""
                  onSaved={() => void again().then(() => setEditing(false))}
                />
              </Show>
            </Overlay>
          </div>
        )}
      </Read>
    </>
  );
}
