// How scans of a target log in: shown to all, changed by those who may start scans. The secret is written, never read.
import { createEffect, createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { Button, Notice } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { activeText } from '../../texts/vm/sources/active-scans.js';

const text = activeText.login;
type Profile = NonNullable<Body<'PUT /api/v1/targets/{id}/auth-profile'>['profile']>;
type Fields = Record<'login_url' | 'user' | 'name' | 'check_url' | 'check_text', string>;
const noFields: Fields = { login_url: '', user: '', name: '', check_url: '', check_text: '' };

export function LoginOfScans(props: {
  readonly id: string;
  readonly identity: 'first' | 'second';
  readonly mayChange: boolean;
}): JSX.Element {
  const stored = createQuery('GET /api/v1/targets/{id}/auth-profile', () => ({
    params: { id: props.id },
    query: { identity: props.identity },
  }));
  const [type, setType] = createSignal<Profile['type'] | ''>('');
  const [fields, setFields] = createSignal(noFields);
  const [secret, setSecret] = createSignal('');
  const action = createAction();
  createEffect(() => {
    const profile = stored.data()?.profile ?? null;
    setType(profile?.type ?? '');
    const { login_url = '', user = '', name = '', check_url = '', check_text = '' } = profile ?? {};
    setFields({ login_url, user, name, check_url, check_text });
  });
  const set = (name: keyof Fields) => (value: string) => setFields((before) => ({ ...before, [name]: value }));
  const save = async (): Promise<void> => {
    const chosen = type();
    const { check_url, check_text, ...rest } = fields();
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''));
    const profile = chosen === '' ? null : { type: chosen, check_url, check_text, ...given };
    const body = { profile, identity: props.identity, ...(secret() === '' ? {} : { secret: secret() }) };
    const options = { params: { id: props.id }, body };
    if (!(await action.run(() => call('PUT /api/v1/targets/{id}/auth-profile', options)))) return;
    tell(text.saved);
    setSecret('');
    await stored.reload();
  };
  return (
    <Read of={stored}>
      {(answer) => (
        <section class="stack">
          <h3>{props.identity === 'first' ? text.title : text.second}</h3>
          <Show when={props.identity === 'second'}>
            <p class="muted">{text.secondAbout}</p>
          </Show>
          <Show
            when={props.mayChange}
            fallback={<p>{answer().profile === null ? text.none : text.kinds[answer().profile?.type ?? 'form']}</p>}
          >
            <SelectField
              label={text.kind}
              value={type()}
              options={[
                ['', text.none],
                ['form', text.kinds.form],
                ['bearer', text.kinds.bearer],
                ['header', text.kinds.header],
                ['cookie', text.kinds.cookie],
              ]}
              onChange={setType}
            />
            <Show when={type() !== ''}>
              <Show when={type() === 'form'}>
                <TextField label={text.loginUrl} value={fields().login_url} onInput={set('login_url')} />
                <TextField label={text.user} value={fields().user} onInput={set('user')} />
              </Show>
              <Show when={type() === 'header' || type() === 'cookie'}>
                <TextField label={text.name} value={fields().name} onInput={set('name')} />
              </Show>
              <TextField type="password" label={text.secret} value={secret()} onInput={setSecret} />
              <TextField label={text.checkUrl} value={fields().check_url} onInput={set('check_url')} />
              <TextField label={text.checkText} value={fields().check_text} onInput={set('check_text')} />
            </Show>
            <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
            <div>
              <Button isBusy={action.isBusy()} onClick={() => void save()}>
                {text.save}
              </Button>
            </div>
          </Show>
        </section>
      )}
    </Read>
  );
}
