// Name, colour and logo of the installation.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Button, Card, Notice, PageHead } from '../../kit/basics.js';
import { FileField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { brandingText as text } from '../../texts/resources/branding.js';
import { toReportLogo } from './report-logo.js';

type Brand = Reply<'GET /api/v1/branding'>;

const orNull = (typed: string): string | null => (typed.trim() === '' ? null : typed.trim());

function Words(props: { readonly of: Brand; readonly mayEdit: boolean; readonly onChanged: () => void }): JSX.Element {
  const { of } = props;
  const [name, setName] = createSignal(of.set.includes('name') ? of.name : '');
  const [sub, setSub] = createSignal(of.sub ?? '');
  const [tagline, setTagline] = createSignal(of.tagline ?? '');
  const [accent, setAccent] = createSignal(of.accent ?? '');
  const action = createAction();
  const save = async (): Promise<void> => {
    const words = { name: orNull(name()), sub: orNull(sub()), tagline: orNull(tagline()), accent: orNull(accent()) };
    if (!(await action.run(() => call('PUT /api/v1/branding', { body: words })))) return;
    tell(text.saved);
    props.onChanged();
  };
  return (
    <Card title={text.words}>
      <div class="stack">
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="grid-3">
          <TextField label={text.name} help={text.emptyHelp} value={name()} onInput={setName} placeholder={of.name} />
          <TextField label={text.sub} help={text.emptyHelp} value={sub()} onInput={setSub} />
          <TextField label={text.tagline} help={text.taglineHelp} value={tagline()} onInput={setTagline} />
          <TextField label={text.accent} help={text.accentHelp} value={accent()} onInput={setAccent} />
        </div>
        <Show when={props.of.contrast}>
          {(found) => (
            <Notice tone={found().adjusted ? 'warn' : 'info'}>
              {text.contrastOf(found().light.toFixed(2), found().dark.toFixed(2))}{' '}
              <Show when={found().adjusted}>{text.adjusted}</Show>
            </Notice>
          )}
        </Show>
        <Show when={props.mayEdit}>
          <div class="row">
            <Button look="primary" isBusy={action.isBusy()} onClick={() => void save()}>
              {text.save}
            </Button>
          </div>
        </Show>
      </div>
    </Card>
  );
}

function Logo(props: { readonly of: Brand; readonly mayEdit: boolean; readonly onChanged: () => void }): JSX.Element {
  const [file, setFile] = createSignal<File | null>(null);
  const action = createAction();
  const upload = async (): Promise<void> => {
    const form = new FormData();
    const chosen = file();
    if (chosen === null) return;
    form.set('file', chosen);
    const isDone = await action.run(async () => {
      const saved = await call('PUT /api/v1/branding/logo', { form });
      if (saved.logo_in_reports) return;
      const drawn = await toReportLogo(chosen);
      if (drawn === null) return tell(text.notDrawn, true);
      const ofReports = new FormData();
      ofReports.set('file', drawn);
      await call('PUT /api/v1/branding/report-logo', { form: ofReports });
    });
    if (isDone) props.onChanged();
  };
  const remove = async (): Promise<void> => {
    if (await action.run(() => call('DELETE /api/v1/branding/logo'))) props.onChanged();
  };
  return (
    <Card title={text.logo}>
      <div class="stack">
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Show when={props.of.logo_url} fallback={<p>{text.none}</p>}>
          {(url) => <img src={url()} height="48" alt={text.logo} />}
        </Show>
        <Show when={props.of.logo_url !== null && !props.of.logo_in_reports}>
          <Notice tone="warn">{text.nameInReports}</Notice>
        </Show>
        <Show when={props.mayEdit}>
          <FileField label={text.logo} help={text.logoHelp} accept=".png,.svg" onChosen={setFile} />
          <div class="row">
            <Button disabled={file() === null} isBusy={action.isBusy()} onClick={() => void upload()}>
              {text.upload}
            </Button>
            <Show when={props.of.logo_url !== null}>
              <Button look="plain" onClick={() => void remove()}>
                {text.remove}
              </Button>
            </Show>
          </div>
        </Show>
      </div>
    </Card>
  );
}

export function BrandingPage(): JSX.Element {
  const brand = createQuery('GET /api/v1/branding');
  const access = createVmAccess();
  const mayEdit = (): boolean => access.may('manage_branding');
  const changed = (): void => void brand.reload();
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Read of={brand}>
        {(data) => (
          <>
            <Words of={data()} mayEdit={mayEdit()} onChanged={changed} />
            <Logo of={data()} mayEdit={mayEdit()} onChanged={changed} />
          </>
        )}
      </Read>
    </>
  );
}
