// Whether the provider of single sign-on answers: asked from here, so that nobody has to log out to find it out.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, Refused, type Reply } from '../../client/http.js';
import { changed } from '../../client/settings-draft.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Button, Notice } from '../../kit/basics.js';
import { settingsText as text } from '../../texts/settings.js';

type Answer = Reply<'POST /api/v1/sso/providers/{id}/test'>;

/** The settings have one provider; the API gives it this name. */
const provider = { id: 'default' };

export function SsoTest(): JSX.Element {
  const access = createVmAccess();
  const action = createAction();
  const [answer, setAnswer] = createSignal<Answer | null>(null);
  const isUnsaved = (): boolean => changed().some((name) => name.startsWith('sso_'));
  const ask = (): Promise<boolean> => {
    setAnswer(null);
    return action.run(async () => {
      try {
        setAnswer(await call('POST /api/v1/sso/providers/{id}/test', { params: provider }));
      } catch (error) {
        if (!(error instanceof Refused) || error.status !== 404) throw error;
        setAnswer({ ok: false, detail: text.ssoNoProvider });
      }
    });
  };
  return (
    <Show when={access.may('manage_sso')}>
      <section class="stack" aria-label={text.ssoTest}>
        <p class="muted">{isUnsaved() ? text.ssoSaveFirst : text.ssoTestAbout}</p>
        <div>
          <Button isBusy={action.isBusy()} disabled={isUnsaved()} onClick={() => void ask()}>
            {text.ssoTest}
          </Button>
        </div>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Show when={answer()}>
          {(of) => (
            <Notice tone={of().ok ? 'good' : 'warn'} title={of().ok ? text.ssoAnswers : text.ssoFails}>
              {of().detail}
            </Notice>
          )}
        </Show>
      </section>
    </Show>
  );
}
