// Profiles that the organisation writes itself: a name, the checks, and limits that are never wider than a target's.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Reply } from '../../../client/http.js';
import { createQuery, type QueryState } from '../../../client/query.js';
import { Button, Foreign, Notice } from '../../../kit/basics.js';
import { SelectField, Switch, TextField } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { Read } from '../../../kit/page-state.js';
import { activeText } from '../../../texts/vm/sources/active-scans.js';

const text = activeText.own;
type Profiles = Reply<'GET /api/v1/scans/profiles'>;
type Profile = Profiles['items'][number];

function ProfileForm(props: { readonly of: Profile | null; readonly onSaved: () => void }): JSX.Element {
  const { of } = props;
  const checks = createQuery('GET /api/v1/scans/checks');
  const [name, setName] = createSignal(of?.name ?? '');
  const [base, setBase] = createSignal<'standard' | 'full'>(of?.base === 'full' ? 'full' : 'standard');
  const [chosen, setChosen] = createSignal<readonly string[]>(of?.check_ids ?? []);
  const [requests, setRequests] = createSignal(String(of?.requests_max ?? ''));
  const [browser, setBrowser] = createSignal(of?.browser ?? true);
  const action = createAction();
  const save = async (): Promise<void> => {
    const limit = requests() === '' ? null : Number(requests());
    const body = { name: name(), base: base(), checks: [...chosen()], requests_max: limit, browser: browser() };
    const isDone = await action.run(() =>
      of === null || of.id === null
        ? call('POST /api/v1/scans/profiles', { body })
        : call('PATCH /api/v1/scans/profiles/{id}', { params: { id: of.id }, body, ifMatch: `"${of.version ?? 1}"` }),
    );
    if (!isDone) return;
    tell(text.saved);
    props.onSaved();
  };
  const put = (id: string, isOn: boolean): void =>
    void setChosen((before) => (isOn ? [...before, id] : before.filter((one) => one !== id)));
  return (
    <div class="stack">
      <TextField label={text.name} value={name()} onInput={setName} isRequired={true} />
      <SelectField
        label={text.base}
        value={base()}
        options={[
          ['standard', 'standard'],
          ['full', 'full'],
        ]}
        onChange={setBase}
      />
      <TextField label={text.requests} value={requests()} onInput={setRequests} />
      <Switch label={activeText.browser} isOn={browser()} onChange={setBrowser} />
      <Read of={checks}>
        {(answer) => (
          <div class="grid-2">
            <For each={answer().items}>
              {({ id, title }) => (
                <Switch label={`${title} (${id})`} isOn={chosen().includes(id)} onChange={(isOn) => put(id, isOn)} />
              )}
            </For>
          </div>
        )}
      </Read>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button isBusy={action.isBusy()} onClick={() => void save()}>
          {text.save}
        </Button>
      </div>
    </div>
  );
}

export function OwnProfiles(props: { readonly of: QueryState<Profiles> }): JSX.Element {
  const [edited, setEdited] = createSignal<Profile | 'new' | null>(null);
  const own = () => (props.of.data()?.items ?? []).filter(({ id }) => id !== null);
  const saved = (): void => {
    setEdited(null);
    void props.of.reload();
  };
  return (
    <details>
      <summary>{text.title}</summary>
      <div class="stack">
        <p class="muted">{text.about}</p>
        <For each={own()}>
          {(one) => (
            <div class="row wrap">
              <Foreign text={`${one.name}: ${one.check_ids.join(', ')}`} max={300} />
              <Button isSmall={true} onClick={() => setEdited(one)}>
                {text.change}
              </Button>
            </div>
          )}
        </For>
        <div>
          <Button onClick={() => setEdited('new')}>{text.add}</Button>
        </div>
        <Show when={edited()} keyed>
          {(one) => <ProfileForm of={one === 'new' ? null : one} onSaved={saved} />}
        </Show>
      </div>
    </details>
  );
}
