// Named sets of ordinary settings for kinds of applications: what each would change now, and a button that takes it
// over as a new version.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused, type Item } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { loadSettings } from '../../client/settings-draft.js';
import { Badge, Button, Card } from '../../kit/basics.js';
import { Overlay, tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { DiffLines } from '../changes/diff-lines.js';
import { wafText as text } from '../../texts/waf.js';

type Profile = Item<'GET /api/settings/profiles'>;

function ProfileCard(props: { readonly profile: Profile; readonly onLook: () => void }): JSX.Element {
  return (
    <div class="stack tight profile">
      <div class="row wrap">
        <strong>{props.profile.title}</strong>
        <Show when={props.profile.changes.length === 0}>
          <Badge tone="good">{text.settings}</Badge>
        </Show>
      </div>
      <p class="muted small sentence">{props.profile.summary}</p>
      <div>
        <Button isSmall onClick={props.onLook}>
          {text.whatChanges}
        </Button>
      </div>
    </div>
  );
}

export function Profiles(): JSX.Element {
  const profiles = createQuery('GET /api/settings/profiles');
  const [chosen, setChosen] = createSignal<Profile | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const take = async (name: string): Promise<void> => {
    setBusy(true);
    try {
      const reply = await call('POST /api/settings/profiles/{name}', { params: { name } });
      tell(reply.saved ? text.savedAsVersionForce(reply.version) : text.nothingHadChange);
      setChosen(null);
      await Promise.all([profiles.reload(), loadSettings()]);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={text.profilesForKindsApplications}>
      <Read of={profiles}>
        {(data) => (
          <div class="grid-4">
            <For each={data().items}>
              {(profile) => <ProfileCard profile={profile} onLook={() => setChosen(profile)} />}
            </For>
          </div>
        )}
      </Read>
      <Overlay
        isOpen={chosen() !== null}
        look="wide"
        title={chosen()?.title ?? ''}
        onClose={() => setChosen(null)}
        footer={
          <Show when={mayAs('operator') && (chosen()?.changes.length ?? 0) > 0}>
            <Button look="primary" isBusy={isBusy()} onClick={() => void take(chosen()?.name ?? '')}>
              {text.takeOver}
            </Button>
          </Show>
        }
      >
        <For each={Object.entries(chosen()?.why ?? {})}>
          {([name, why]) => (
            <p>
              <code>{name}</code> <span class="muted">{String(why)}</span>
            </p>
          )}
        </For>
        <DiffLines changes={chosen()?.changes ?? []} />
      </Overlay>
    </Card>
  );
}
