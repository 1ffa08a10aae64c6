// Login: password, then a one-time or recovery code where the account has one; single sign-on where it is set up. The
// same form stands above a page whose session ended, so that nothing that was typed there is lost.
import { createSignal, onMount, Show, type JSX } from 'solid-js';
import { call, linkTo, Refused } from '../client/http.js';
import { answerCode, logIn } from '../client/session.js';
import { Button, Notice } from '../kit/basics.js';
import { BrandMark } from './brand-mark.js';
import { brand, brandSub, tagline } from './brand.js';
import { shellText as words } from '../texts/shell.js';

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly autocomplete: string;
}

function LoginField(props: Field & { readonly help?: string; readonly isFirst?: boolean }): JSX.Element {
  const id = `login-${props.name}`;
  let input: HTMLInputElement | undefined;
  // whoever comes here comes to type; the step for the code takes the focus from a button that is gone
  onMount(() => {
    if (props.isFirst === true) input?.focus();
  });
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <input
        class="input"
        id={id}
        ref={input}
        name={props.name}
        type={props.type}
        autocomplete={props.autocomplete}
        required
      />
      <Show when={props.help}>
        <span class="help">{props.help}</span>
      </Show>
    </div>
  );
}

export function LoginForm(): JSX.Element {
  const [challenge, setChallenge] = createSignal<string | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const [hasSso, setSso] = createSignal(false);
  onMount(() => {
    void call('GET /api/sso')
      .then(({ enabled }) => setSso(enabled))
      .catch(() => setSso(false)); // the form says so itself when nothing answers
  });
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const read = (name: string): string => {
      const value = new FormData(form).get(name);
      return typeof value === 'string' ? value : '';
    };
    setBusy(true);
    setProblem(null);
    try {
      const due = challenge();
      if (due !== null) await answerCode(due, read('otp').trim());
      else setChallenge((await logIn({ email: read('email').trim(), password: read('password') })).challenge);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
      if (error.code === 'challenge_expired') setChallenge(null);
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    void submit(event.currentTarget as HTMLFormElement);
  };
  return (
    <form class="stack" onSubmit={onSubmit}>
      <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      <Show
        when={challenge() !== null}
        fallback={
          <>
            <LoginField isFirst name="email" label={words.eMail} type="email" autocomplete="username" />
            <LoginField name="password" label={words.password} type="password" autocomplete="current-password" />
          </>
        }
      >
        <LoginField
          isFirst
          name="otp"
          label={words.oneTimeCode}
          type="text"
          autocomplete="one-time-code"
          help={words.sixDigitsYourAuthenticator}
        />
      </Show>
      <Button type="submit" look="primary" isBusy={isBusy()}>
        {challenge() === null ? words.log : words.confirm}
      </Button>
      <Show when={challenge() !== null}>
        <Button look="plain" onClick={() => setChallenge(null)}>
          {words.back}
        </Button>
      </Show>
      <Show when={hasSso() && challenge() === null}>
        <a class="button" href={linkTo('GET /api/sso/login', { return_to: location.pathname })}>
          {words.logSingleSignOn}
        </a>
      </Show>
    </form>
  );
}

export function LoginPage(): JSX.Element {
  return (
    <main class="login">
      <div class="login-card">
        <div class="brand">
          <BrandMark />
          {brand} <small>{brandSub}</small>
        </div>
        <Show when={tagline !== ''}>
          <p class="muted">{tagline}</p>
        </Show>
        <h1 class="visually-hidden">{words.log}</h1>
        <LoginForm />
      </div>
    </main>
  );
}
