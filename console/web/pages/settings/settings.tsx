// Every setting, by group. What is typed is a draft until it is saved; what is saved protects once it is applied.
import { A, useBeforeLeave, useParams } from '@solidjs/router';
import { createMemo, createSignal, For, onMount, Show, type JSX } from 'solid-js';
import { Refused } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs, type Role } from '../../client/session.js';
import {
  changed,
  discard,
  draft,
  edit,
  loadProblem,
  loadSettings,
  problems,
  save,
} from '../../client/settings-draft.js';
import { Badge, Button, Card, Loading, Notice, PageHead } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { ConflictDialog } from './conflict.js';
import { groupOf, groups, other, type SettingGroup } from './groups.js';
import { SchemaField } from './schema-field.js';
import { titleOf, type SettingSchema } from './schema.js';

/** Saves what differs, and says what came of it. */
export function SaveBar(props: { readonly names?: readonly string[] }): JSX.Element {
  const [isBusy, setBusy] = createSignal(false);
  const waiting = createMemo(() => changed().filter((name) => props.names === undefined || props.names.includes(name)));
  const send = async (): Promise<void> => {
    setBusy(true);
    try {
      if (await save(waiting())) tell('Saved. It protects once it is applied.');
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
          Not saved: <span class="mono small">{waiting().join(', ')}</span>
        </span>
        <span class="row">
          <Button onClick={() => discard(waiting())}>Discard</Button>
          <Button look="primary" isBusy={isBusy()} onClick={() => void send()}>
            Save
          </Button>
        </span>
      </div>
    </Show>
  );
}

/** Asks before unsaved input is left behind. */
export function guardUnsaved(): void {
  useBeforeLeave((leaving) => {
    const isSettingsPage = String(leaving.to).startsWith('/admin/settings');
    if (changed().length === 0 || isSettingsPage || leaving.defaultPrevented) return;
    leaving.preventDefault();
    if (!confirm('There are unsaved settings. Leave without saving them?')) return;
    discard();
    leaving.retry(true);
  });
}

function Setting(props: { readonly name: string; readonly schema: SettingSchema }): JSX.Element {
  const isForeign = (): boolean => !mayAs((props.schema['x-access'] ?? 'admin') as Role);
  return (
    <div class="stack tight" id={props.name}>
      <div class="row wrap small">
        <code class="faint">{props.name}</code>
        <Show when={changed().includes(props.name)}>
          <Badge tone="info">changed</Badge>
        </Show>
        <Show when={props.schema['x-enforced-by'] === null}>
          <Badge tone="warn">not in force in this release</Badge>
        </Show>
        <Show when={isForeign()}>
          <Badge>{props.schema['x-access']} only</Badge>
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
  return (
    <nav class="nav-group" aria-label="Groups of settings">
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
  guardUnsaved();
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
  return (
    <>
      <PageHead title="Settings" about={chosen().about} />
      <SaveBar />
      <ConflictDialog />
      <Show when={loadProblem()}>{(problem) => <Notice tone="danger">{problem().message}</Notice>}</Show>
      <Read of={schema}>
        {() => (
          <Show when={draft() !== null} fallback={<Loading />}>
            <div class="settings-grid">
              <GroupMenu chosen={chosen().key} present={present()} />
              <Card title={chosen().title}>
                <div class="stack form">
                  <For each={names()}>{(name) => <Setting name={name} schema={properties()[name] ?? {}} />}</For>
                </div>
              </Card>
            </div>
          </Show>
        )}
      </Read>
    </>
  );
}
