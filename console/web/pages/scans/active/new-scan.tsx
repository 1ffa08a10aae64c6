// A scan in three clicks: target, profile, start.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Body, type Reply } from '../../../client/http.js';
import { createQuery } from '../../../client/query.js';
import { Button, Card, Empty, Notice } from '../../../kit/basics.js';
import { SelectField, Switch } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { Read } from '../../../kit/page-state.js';
import { activeText as text } from '../../../texts/vm/sources/active-scans.js';
import { OwnProfiles } from './own-profiles.js';
import { isVerified } from './scan-result.js';

type Profile = NonNullable<Body<'POST /api/v1/scans'>['profile']>;
type Profiles = Reply<'GET /api/v1/scans/profiles'>['items'];
const targetsMax = 500;
const ownMark = 'own:';

const optionsOf = (items: Profiles): readonly (readonly [string, string])[] =>
  items.map(({ id, name, base, checks }) =>
    id === null
      ? [name, `${text.profiles[base]} (${text.checks(checks)})`]
      : [ownMark + id, `${name} (${text.checks(checks)})`],
  );

/** A profile of the product by its name, one of the organisation by its id. */
async function begin(target: string, value: string, browser: boolean): Promise<string> {
  const chosen = value.startsWith(ownMark)
    ? { profile_id: value.slice(ownMark.length) }
    : { profile: value as Profile };
  const { id } = await call('POST /api/v1/scans', { body: { target_id: target, ...chosen, browser } });
  tell(text.started(id));
  return id;
}

function NoTargets(props: { readonly mayAdd: boolean }): JSX.Element {
  return (
    <Empty title={text.noTargets}>
      <p>{text.noTargetsAbout}</p>
      <Show when={props.mayAdd}>
        <A class="button primary" href="/vulnerabilities/targets?add=1">
          {text.addTarget}
        </A>
      </Show>
    </Empty>
  );
}

export function NewScan(props: { readonly mayAdd: boolean; readonly onStarted: (id: string) => void }): JSX.Element {
  const targets = createQuery('GET /api/v1/targets', () => ({ query: { limit: targetsMax, sort: 'url' as const } }));
  const profiles = createQuery('GET /api/v1/scans/profiles');
  const [target, setTarget] = createSignal('');
  const [profile, setProfile] = createSignal('standard');
  const [browser, setBrowser] = createSignal<boolean | null>(null);
  const action = createAction();
  /** As its profile says, until somebody says otherwise. */
  const withBrowser = (): boolean =>
    browser() ??
    profiles.data()?.items.find(({ id, name }) => profile() === (id === null ? name : ownMark + id))?.browser ??
    true;
  const chosen = () => targets.data()?.items.find(({ id }) => id === target());
  const isUnproved = (): boolean => chosen() !== undefined && !isVerified(chosen()?.verified_at);
  const options = () => optionsOf(profiles.data()?.items ?? []);
  const start = async (): Promise<void> => {
    await action.run(async () => {
      props.onStarted(await begin(target(), profile(), withBrowser()));
    });
  };
  return (
    <Card title={text.start}>
      <Read of={targets}>
        {(answer) => (
          <Show when={answer().items.length > 0} fallback={<NoTargets mayAdd={props.mayAdd} />}>
            <div class="stack">
              <div class="grid-2">
                <SelectField
                  label={text.target}
                  value={target()}
                  options={[
                    ['', text.chooseTarget] as const,
                    ...answer().items.map(({ id, url }) => [id, url ?? id] as const),
                  ]}
                  onChange={setTarget}
                />
                <SelectField
                  label={text.profile}
                  value={profile()}
                  options={options()}
                  from={profiles}
                  onChange={setProfile}
                />
              </div>
              <Switch label={text.browser} isOn={withBrowser()} onChange={setBrowser} />
              <OwnProfiles of={profiles} />
              <Show when={isUnproved()}>
                <Notice tone="warn">
                  {text.notVerified} <A href={`/vulnerabilities/targets?target=${target()}`}>{text.verifyIt}</A>
                </Notice>
              </Show>
              <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
              <div>
                <Button
                  look="primary"
                  isBusy={action.isBusy()}
                  disabled={target() === '' || isUnproved()}
                  onClick={() => void start()}
                >
                  {text.startNow}
                </Button>
              </div>
            </div>
          </Show>
        )}
      </Read>
    </Card>
  );
}
