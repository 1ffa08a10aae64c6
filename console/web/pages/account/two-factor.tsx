import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { account, readAccount } from '../../client/session.js';
import { Badge, Button, Notice } from '../../kit/basics.js';
import { TextField } from '../../kit/form.js';
import { QrCode } from '../../kit/qr-code.js';
import { accountText as words } from '../../texts/account.js';

function createEnrolment() {
  const [password, setPassword] = createSignal('');
  const [code, setCode] = createSignal('');
  const [secret, setSecret] = createSignal<{ readonly secret: string; readonly uri: string } | null>(null);
  const [codes, setCodes] = createSignal<readonly string[] | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setProblem(null);
    try {
      await work();
      setCode('');
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
    }
  };
  const begin = (): Promise<void> =>
    attempt(async () => void setSecret(await call('POST /api/account/totp', { body: { password: password() } })));
  const confirm = (): Promise<void> =>
    attempt(async () => {
      const reply = await call('POST /api/account/totp/confirm', { body: { otp: code().trim() } });
      setCodes(reply.recovery_codes);
      setSecret(null);
    });
  const turnOff = (): Promise<void> =>
    attempt(async () => {
      await call('DELETE /api/account/totp', { body: { password: password(), otp: code().trim() } });
      await readAccount();
    });
  const renew = (): Promise<void> =>
    attempt(async () => {
      const body = { password: password(), otp: code().trim() };
      setCodes((await call('POST /api/account/recovery-codes', { body })).recovery_codes);
    });
  return { password, setPassword, code, setCode, secret, codes, problem, begin, confirm, turnOff, renew };
}

function RecoveryCodes(props: { readonly codes: readonly string[] | null }): JSX.Element {
  return (
    <Show when={props.codes}>
      {(list) => (
        <Notice tone="warn" title={words.recoveryCodesShownOnce}>
          <ul class="mono">
            <For each={list()}>{(one) => <li>{one}</li>}</For>
          </ul>
          <div>
            <Button onClick={() => void readAccount()}>{words.iHaveKeptThem}</Button>
          </div>
        </Notice>
      )}
    </Show>
  );
}

/** Enrolment of an authenticator app, and the recovery codes that come with it. */
export function TwoFactor(): JSX.Element {
  const { password, setPassword, code, setCode, secret, codes, problem, begin, confirm, turnOff, renew } =
    createEnrolment();
  return (
    <div class="stack">
      <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      <RecoveryCodes codes={codes()} />
      <div class="row">
        {words.secondFactor}
        <Badge tone={account()?.totp_enabled === true ? 'good' : 'warn'}>
          {account()?.totp_enabled === true ? 'on' : 'off'}
        </Badge>
      </div>
      <Show
        when={secret()}
        fallback={
          <TextField
            label={words.yourPassword}
            type="password"
            autocomplete="current-password"
            value={password()}
            onInput={setPassword}
          />
        }
      >
        {(found) => (
          <div class="stack tight">
            <p>{words.addThisKeyYour}</p>
            <QrCode text={found().uri} label={words.qrOfKey} />
            <pre class="code">{found().secret}</pre>
            <a href={found().uri}>{words.openAppOnThis}</a>
          </div>
        )}
      </Show>
      <Show when={secret() !== null || account()?.totp_enabled === true}>
        <TextField label={words.code} autocomplete="one-time-code" value={code()} onInput={setCode} />
      </Show>
      <div class="row wrap">
        <Show when={account()?.totp_enabled !== true}>
          <Show
            when={secret() !== null}
            fallback={
              <Button look="primary" disabled={password() === ''} onClick={() => void begin()}>
                {words.setUp}
              </Button>
            }
          >
            <Button look="primary" disabled={code() === ''} onClick={() => void confirm()}>
              {words.turnOn}
            </Button>
          </Show>
        </Show>
        <Show when={account()?.totp_enabled === true}>
          <Button onClick={() => void renew()}>{words.newRecoveryCodes}</Button>
          <Button onClick={() => void turnOff()}>{words.turnOff}</Button>
        </Show>
      </div>
    </div>
  );
}
