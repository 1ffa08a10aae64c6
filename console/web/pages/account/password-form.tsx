import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { accountText as words } from '../../texts/account.js';

/** A new password for who is logged in; every other session ends with it. */
export function PasswordForm(props: { readonly onDone: () => void }): JSX.Element {
  const [current, setCurrent] = createSignal('');
  const [next, setNext] = createSignal('');
  const [again, setAgain] = createSignal('');
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const change = async (): Promise<void> => {
    if (next() !== again()) return void setProblem(words.twoNewPasswordsDiffer);
    setBusy(true);
    try {
      await call('POST /api/account/password', { body: { current: current(), password: next() } });
      tell(words.passwordChanged);
      props.onDone();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message); // a sentence with every reason
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    void change();
  };
  return (
    <form class="stack" onSubmit={onSubmit}>
      <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      <TextField
        label={words.currentPassword}
        type="password"
        autocomplete="current-password"
        isRequired
        value={current()}
        onInput={setCurrent}
      />
      <TextField
        label={words.newPassword}
        type="password"
        autocomplete="new-password"
        isRequired
        value={next()}
        onInput={setNext}
      />
      <TextField
        label={words.newPasswordAgain}
        type="password"
        autocomplete="new-password"
        isRequired
        value={again()}
        onInput={setAgain}
      />
      <div>
        <Button type="submit" look="primary" isBusy={isBusy()}>
          {words.changePassword}
        </Button>
      </div>
    </form>
  );
}
