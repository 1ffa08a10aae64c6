import { Show, type JSX } from 'solid-js';
import { account, logOut, readAccount } from '../../client/session.js';
import { Button } from '../../kit/basics.js';
import { Mark } from '../../kit/icons.js';
import { brand, brandSub } from '../../shell/brand.js';
import { PasswordForm } from './password-form.js';
import { TwoFactor } from './two-factor.js';
import { accountText as text } from '../../texts/account.js';

/** What has to be done before anything else: a first password of one's own, or a second factor that is required. */
export function Duty(): JSX.Element {
  return (
    <main class="login">
      <div class="login-card">
        <div class="brand">
          <Mark />
          {brand} <small>{brandSub}</small>
        </div>
        <Show
          when={account()?.duty === 'change_password'}
          fallback={
            <>
              <h1>{text.setUpSecondFactor}</h1>
              <p class="muted">{text.administratorsNeedOneHere}</p>
              <TwoFactor />
            </>
          }
        >
          <h1>{text.chooseYourOwnPassword}</h1>
          <p class="muted">{text.oneYouLoggedOnly}</p>
          <PasswordForm onDone={() => void readAccount()} />
        </Show>
        <Button look="plain" onClick={() => void logOut()}>
          {text.logOut}
        </Button>
      </div>
    </main>
  );
}
