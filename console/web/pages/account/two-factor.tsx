import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { account, readAccount } from '../../client/session.js';
import { Badge, Button, Notice } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
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
  /** Only now the account is read anew: where the factor was a duty, the page with the codes goes with it. */
  const keep = async (): Promise<void> => {
    await readAccount();
    setPassword('');
    setCodes(null);
  };
  return { keep, password, setPassword, code, setCode, secret, codes, problem, begin, confirm, turnOff, renew };
}

function RecoveryCodes(props: { readonly codes: readonly string[]; readonly onKept: () => void }): JSX.Element {
  return (
    <Notice tone="warn" title={words.recoveryCodesShownOnce}>
      <ul class="mono">
        <For each={props.codes}>{(one) => <li>{one}</li>}</For>
      </ul>
      <div class="row wrap">
        <CopyButton of={props.codes.join('\n')} kind="codes" />
        <Button onClick={props.onKept}>{words.iHaveKeptThem}</Button>
      </div>
    </Notice>
  );
}

/** Enrolment of an authenticator app, and the recovery codes that come with it. */
export function TwoFactor(): JSX.Element {
  const enrolment = createEnrolment();
  return (
    <div class="stack">
      <Show when={enrolment.problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      {/* nothing stands beside codes that are shown once: what is next begins when they are kept */}
      <Show when={enrolment.codes()} fallback={<Factor of={enrolment} />}>
        {(codes) => <RecoveryCodes codes={codes()} onKept={() => void enrolment.keep()} />}
      </Show>
    </div>
  );
}

function Factor(props: { readonly of: ReturnType<typeof createEnrolment> }): JSX.Element {
  const isOn = (): boolean => account()?.totp_enabled === true;
  return (
    <>
      <div class="row">
        {words.secondFactor}
        <Badge tone={isOn() ? 'good' : 'warn'}>{isOn() ? words.on : words.off}</Badge>
      </div>
      <Show
        when={props.of.secret()}
        fallback={
          <TextField
            label={words.yourPassword}
            type="password"
            autocomplete="current-password"
            value={props.of.password()}
            onInput={props.of.setPassword}
          />
        }
      >
        {(found) => (
          <div class="stack tight">
            <p>{words.addThisKeyYour}</p>
            <QrCode text={found().uri} label={words.qrOfKey} />
            <pre class="code">{found().secret}</pre>
            <div>
              <CopyButton of={found().secret} kind="key" />
            </div>
            <a href={found().uri}>{words.openAppOnThis}</a>
          </div>
        )}
      </Show>
      <Show when={props.of.secret() !== null || isOn()}>
        <TextField label={words.code} autocomplete="one-time-code" value={props.of.code()} onInput={props.of.setCode} />
      </Show>
      <div class="row wrap">
        <Show when={isOn()} fallback={<Enrol of={props.of} />}>
          <Button onClick={() => void props.of.renew()}>{words.newRecoveryCodes}</Button>
          <Button onClick={() => void props.of.turnOff()}>{words.turnOff}</Button>
        </Show>
      </div>
    </>
  );
}

function Enrol(props: { readonly of: ReturnType<typeof createEnrolment> }): JSX.Element {
  return (
    <Show
      when={props.of.secret() !== null}
      fallback={
        <Button look="primary" disabled={props.of.password() === ''} onClick={() => void props.of.begin()}>
          {words.setUp}
        </Button>
      }
    >
      <Button look="primary" disabled={props.of.code() === ''} onClick={() => void props.of.confirm()}>
        {words.turnOn}
      </Button>
    </Show>
  );
}
