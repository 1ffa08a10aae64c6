import { Show, type JSX } from 'solid-js';
import { account, logOut, readAccount } from '../../client/session.js';
import { Button } from '../../kit/basics.js';
import { Mark } from '../../kit/icons.js';
import { PasswordForm } from './password-form.js';
import { TwoFactor } from './two-factor.js';

/** What has to be done before anything else: a first password of one's own, or a second factor that is required. */
export function Duty(): JSX.Element {
  return (
    <main class="login">
      <div class="login-card">
        <Mark />
        <Show
          when={account()?.duty === 'change_password'}
          fallback={
            <>
              <h1>Set up a second factor</h1>
              <p class="muted">Administrators need one here.</p>
              <TwoFactor />
            </>
          }
        >
          <h1>Choose your own password</h1>
          <p class="muted">The one you logged in with is only for the first time.</p>
          <PasswordForm onDone={() => void readAccount()} />
        </Show>
        <Button look="plain" onClick={() => void logOut()}>
          Log out
        </Button>
      </div>
    </main>
  );
}
