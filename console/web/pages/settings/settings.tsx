// Every setting, by group. What is typed is a draft until it is saved; what is saved protects once it is applied.
import { A, useLocation, useParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, onMount, Show, type JSX } from 'solid-js';
import { Refused } from '../../client/http.js';
import { both, createQuery } from '../../client/query.js';
import { mayAs, type Role } from '../../client/session.js';
import {
  changed,
  discard,
  draft,
  edit,
  loadSettings,
  problems,
  save,
  settingsRead,
} from '../../client/settings-draft.js';
import { Badge, Button, Card, PageHead } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { UnsavedGuard } from '../../kit/unsaved.js';
import { ConflictDialog } from './conflict.js';
import { groupOf, groups, other, type SettingGroup } from './groups.js';
import { SchemaField } from './schema-field.js';
import { SitesNow } from './sites-now.js';
import { titleOf, type SettingSchema } from './schema.js';
import { SsoTest } from './sso-test.js';
import { settingsText as text } from '../../texts/settings.js';

/** Saves what differs, and says what came of it. */
export function SaveBar(props: { readonly names?: readonly string[]; readonly onSaved?: () => void }): JSX.Element {
  const [isBusy, setBusy] = createSignal(false);
  const waiting = createMemo(() => changed().filter((name) => props.names === undefined || props.names.includes(name)));
  const send = async (): Promise<void> => {
    setBusy(true);
    try {
      if (!(await save(waiting()))) return;
      tell(text.savedProtectsOnceApplied);
      props.onSaved?.();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Show when={waiting().length > 0}>
      <div class="notice info row between wrap" role="status">
        <span>
          {text.notSaved}
          <span class="mono small">{waiting().join(', ')}</span>
        </span>
        <span class="row">
          <Button onClick={() => discard(waiting())}>{text.discard}</Button>
          <Button look="primary" isBusy={isBusy()} onClick={() => void send()}>
            {text.save}
          </Button>
        </span>
      </div>
    </Show>
  );
}

const draftPages: ReadonlySet<string> = new Set(['/waf', '/inventory/specifications']);

/** Asks before the draft of the settings is left behind; the pages that show it may be walked between. */
export function DraftGuard(): JSX.Element {
  const keeps = (path: string): boolean => path.startsWith('/admin/settings') || draftPages.has(path);
  return <UnsavedGuard isDirty={changed().length > 0} onDiscard={discard} keeps={keeps} />;
}

const fields = 'input, select, textarea, button';

/** The setting that the address names is brought into view, once it is there. */
function createShownSetting(isThere: () => boolean): void {
  const location = useLocation();
  createEffect(() => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (name === '' || !isThere()) return;
    const element = document.getElementById(name);
    element?.scrollIntoView({ block: 'center' });
    element?.querySelector<HTMLElement>(fields)?.focus({ preventScroll: true });
  });
}

function Setting(props: { readonly name: string; readonly schema: SettingSchema }): JSX.Element {
  const isForeign = (): boolean => !mayAs((props.schema['x-access'] ?? 'admin') as Role);
  return (
    <div class="stack tight" id={props.name}>
      <div class="row wrap small">
        <code class="faint">{props.name}</code>
        <Show when={changed().includes(props.name)}>
          <Badge tone="info">{text.changed}</Badge>
        </Show>
        <Show when={props.schema['x-enforced-by'] === null}>
          <Badge tone="warn">{text.notForceThisRelease}</Badge>
        </Show>
        <Show when={isForeign()}>
          <Badge>{text.onlyOf(props.schema['x-access'])}</Badge>
        </Show>
      </div>
      <SchemaField
        schema={props.schema}
        path={`/${props.name}`}
        label={titleOf(props.name)}
        value={draft()?.[props.name]}
        problems={problems()}
        isDisabled={isForeign()}
        onChange={(value) => edit(props.name, value)}
      />
    </div>
  );
}

function GroupMenu(props: { readonly chosen: string; readonly present: readonly SettingGroup[] }): JSX.Element {
  let menu: HTMLElement | undefined;
  // on a telephone the groups are one line that is moved sideways: the chosen one is in sight
  createEffect(() => {
    const link = menu?.children[props.present.findIndex(({ key }) => key === props.chosen)];
    if (menu !== undefined && link instanceof HTMLElement)
      menu.scrollLeft = link.offsetLeft - menu.offsetLeft - (menu.clientWidth - link.offsetWidth) / 2;
  });
  return (
    <nav ref={menu} class="nav-group" aria-label={text.groupsSettings}>
      <For each={props.present}>
        {({ key, title }) => (
          <A class="nav-link" href={`/admin/settings/${key}`} aria-current={props.chosen === key ? 'page' : undefined}>
            {title}
          </A>
        )}
      </For>
    </nav>
  );
}

export function Settings(): JSX.Element {
  const params = useParams();
  const schema = createQuery('GET /api/settings/schema');
  onMount(() => void loadSettings());
  const properties = createMemo(
    () =>
      (schema.data() as { readonly properties?: Readonly<Record<string, SettingSchema>> } | undefined)?.properties ??
      {},
  );
  const present = createMemo(() => {
    const used = new Set(Object.keys(properties()).map((name) => groupOf(name)?.key));
    return [...groups, other].filter(({ key }) => used.has(key));
  });
  const chosen = createMemo(() => present().find(({ key }) => key === params['group']) ?? present()[0] ?? other);
  const names = createMemo(() => Object.keys(properties()).filter((name) => groupOf(name)?.key === chosen().key));
  createShownSetting(() => names().length > 0 && draft() !== null);
  return (
    <>
      <PageHead title={text.settings} about={present().length > 0 ? chosen().about : undefined} />
      <SaveBar />
      <DraftGuard />
      <ConflictDialog />
      <Read of={both(schema, settingsRead)}>
        {() => (
          <div class="settings-grid">
            <GroupMenu chosen={chosen().key} present={present()} />
            <div class="stack">
              <Card title={chosen().title}>
                <div class="stack form">
                  <For each={names()}>{(name) => <Setting name={name} schema={properties()[name] ?? {}} />}</For>
                  <Show when={names().includes('sso_issuer')}>
                    <SsoTest />
                  </Show>
                </div>
              </Card>
              <Show when={chosen().key === 'sites'}>
                <SitesNow />
              </Show>
            </div>
          </div>
        )}
      </Read>
    </>
  );
}
