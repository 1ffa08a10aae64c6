// A scan of each target of a group that may be scanned now.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { activeText } from '../../texts/vm/sources/active-scans.js';

const text = activeText.group;
const names = ['quick', 'standard', 'full', 'api', 'authenticated'] as const;

export function GroupScan(props: { readonly id: string }): JSX.Element {
  const [profile, setProfile] = createSignal<(typeof names)[number]>('quick');
  const [begun, setBegun] = createSignal<Reply<'POST /api/v1/target-groups/{id}/scan'> | null>(null);
  const action = createAction();
  const start = async (): Promise<void> => {
    await action.run(async () => {
      const options = { params: { id: props.id }, body: { profile: profile() } };
      setBegun(await call('POST /api/v1/target-groups/{id}/scan', options));
    });
  };
  return (
    <section class="stack">
      <h3>{text.title}</h3>
      <SelectField
        label={activeText.profile}
        value={profile()}
        options={names.map((name) => [name, activeText.profiles[name]] as const)}
        onChange={setProfile}
      />
      <div>
        <Button isBusy={action.isBusy()} onClick={() => void start()}>
          {text.start}
        </Button>
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={begun()}>
        {(made) => (
          <>
            <p>{text.begun(made().runs.length)}</p>
            <ul>
              <For each={made().skipped}>
                {({ url, reason }) => (
                  <li>
                    <Foreign text={`${url}: ${reason}`} max={400} />
                  </li>
                )}
              </For>
            </ul>
          </>
        )}
      </Show>
    </section>
  );
}
