// Every setting by its schema, in groups: looked for by words, or by what differs from its default. What is typed is a
// draft until it is saved; what is saved protects once it is applied.
import { A, useLocation, useNavigate, useParams, useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, For, onMount, Show, type JSX } from 'solid-js';
import { both, createQuery } from '../../client/query.js';
import { mayAs, type Role } from '../../client/session.js';
import { changed, draft, edit, loadSettings, problems, settingsRead } from '../../client/settings-draft.js';
import { Badge, Button, Card, Empty, Notice, PageHead } from '../../kit/basics.js';
import { Switch, TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { ConflictDialog } from './conflict.js';
import { defaultOf, fits, isDefault } from './filter.js';
import { groupOf, groups, other, type SettingGroup } from './groups.js';
import { DraftGuard, SaveBar } from './save-bar.js';
import { SchemaField } from './schema-field.js';
import { SitesNow } from './sites-now.js';
import { shapeOf, titleOf, type SettingSchema } from './schema.js';
import { SsoTest } from './sso-test.js';
import { settingsText as text } from '../../texts/settings.js';

type Schemas = Readonly<Record<string, SettingSchema>>;

const fields = 'input, select, textarea, button';

const isNotDefault = (name: string, schema: SettingSchema): boolean => !isDefault(schema, draft()?.[name]);

/** The setting, or the member of one, that a link names: `#rl_window`, `?field=limits.uri_bytes_max`. */
function createLinked(schemas: () => Schemas): () => string {
  const location = useLocation();
  const navigate = useNavigate();
  const params = useParams();
  const [search] = useSearchParams();
  const linked = createMemo(() => String(search['field'] ?? '') || decodeURIComponent(location.hash.slice(1)));
  const setting = (): string => linked().split('.')[0] ?? '';
  const isThere = createMemo(() => Object.hasOwn(schemas(), setting()) && draft() !== null);
  createEffect(() => {
    const group = groupOf(setting())?.key;
    if (!isThere() || group === undefined) return;
    if (params['group'] !== group) {
      navigate(`/admin/settings/${group}#${linked()}`, { replace: true });
      return;
    }
    const element = document.getElementById(linked()) ?? document.getElementById(setting());
    element?.scrollIntoView({ block: 'center' });
    element?.querySelector<HTMLElement>(fields)?.focus({ preventScroll: true });
  });
  return () => (draft() === null || Object.keys(schemas()).length === 0 || isThere() ? '' : linked());
}

function Setting(props: { readonly name: string; readonly schema: SettingSchema }): JSX.Element {
  const isForeign = (): boolean => !mayAs((props.schema['x-access'] ?? 'admin') as Role);
  const mayReset = (): boolean =>
    !isForeign() &&
    shapeOf(props.schema).kind !== 'secret' &&
    defaultOf(props.schema) !== undefined &&
    isNotDefault(props.name, props.schema);
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
        <Show when={mayReset()}>
          <Button
            look="plain"
            isSmall
            aria-label={text.toDefaultOf(titleOf(props.name))}
            onClick={() => edit(props.name, defaultOf(props.schema))}
          >
            {text.toDefault}
          </Button>
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

function GroupMenu(props: {
  readonly chosen: string | null;
  readonly present: readonly SettingGroup[];
  readonly changedIn: (key: string) => number;
}): JSX.Element {
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
            <span class="grow">{title}</span>
            <Show when={props.changedIn(key) > 0}>
              <Badge>
                <span class="visually-hidden">{text.notDefault}: </span>
                {props.changedIn(key)}
              </Badge>
            </Show>
          </A>
        )}
      </For>
    </nav>
  );
}

interface Filter {
  readonly typed: () => string;
  readonly isChangedOnly: () => boolean;
  readonly isOn: () => boolean;
}

function FilterBar(props: { readonly of: Filter }): JSX.Element {
  const [, setSearch] = useSearchParams();
  const set = (name: string, value: string): void => setSearch({ [name]: value }, { replace: true });
  return (
    <div class="row wrap end wide" role="search">
      <div class="settings-find">
        <TextField
          label={text.find}
          type="search"
          value={props.of.typed()}
          placeholder={text.findHint}
          onInput={(value) => set('q', value)}
        />
      </div>
      <Switch
        label={text.changedOnly}
        isOn={props.of.isChangedOnly()}
        onChange={(isOn) => set('changed', isOn ? '1' : '')}
      />
    </div>
  );
}

function createFilter(): Filter {
  const [search] = useSearchParams();
  const typed = (): string => String(search['q'] ?? '');
  const isChangedOnly = (): boolean => search['changed'] === '1';
  return { typed, isChangedOnly, isOn: () => typed().trim() !== '' || isChangedOnly() };
}

/** The settings of each group, as far as the filter lets them through. */
function createGroups(schemas: () => Schemas, filter: Filter) {
  const params = useParams();
  const named = createMemo(() => {
    const found = new Map<string, string[]>();
    for (const name of Object.keys(schemas())) {
      const key = groupOf(name)?.key;
      if (key !== undefined) found.set(key, [...(found.get(key) ?? []), name]);
    }
    return found;
  });
  const present = createMemo(() => [...groups, other].filter(({ key }) => named().has(key)));
  const chosen = createMemo(() => present().find(({ key }) => key === params['group']) ?? present()[0] ?? other);
  const schemaOf = (name: string): SettingSchema => schemas()[name] ?? {};
  const isShown = (name: string): boolean =>
    fits(name, schemaOf(name), filter.typed()) &&
    (!filter.isChangedOnly() || changed().includes(name) || isNotDefault(name, schemaOf(name)));
  const namesOf = (key: string): readonly string[] => {
    const all = named().get(key) ?? [];
    return filter.isOn() ? all.filter(isShown) : all;
  };
  // by key, so that a group that stays keeps its fields and the focus in them
  const shown = createMemo(() =>
    filter.isOn() ? present().flatMap(({ key }) => (namesOf(key).length > 0 ? [key] : [])) : [chosen().key],
  );
  const changedIn = (key: string): number =>
    (named().get(key) ?? []).filter((name) => isNotDefault(name, schemaOf(name))).length;
  return { present, chosen, namesOf, shown, changedIn };
}

function GroupCard(props: {
  readonly title: string;
  readonly names: readonly string[];
  readonly schemas: Schemas;
}): JSX.Element {
  return (
    <Card title={props.title}>
      <div class="stack form">
        <For each={props.names}>{(name) => <Setting name={name} schema={props.schemas[name] ?? {}} />}</For>
        <Show when={props.names.includes('sso_issuer')}>
          <SsoTest />
        </Show>
      </div>
    </Card>
  );
}

export function Settings(): JSX.Element {
  const schema = createQuery('GET /api/settings/schema');
  onMount(() => void loadSettings());
  const schemas = createMemo(
    () => (schema.data() as { readonly properties?: Schemas } | undefined)?.properties ?? ({} as Schemas),
  );
  const filter = createFilter();
  const { present, chosen, namesOf, shown, changedIn } = createGroups(schemas, filter);
  const unknown = createLinked(schemas);
  const titleOfGroup = (key: string): string => [...groups, other].find((one) => one.key === key)?.title ?? key;
  return (
    <>
      <PageHead title={text.advanced} about={filter.isOn() ? text.advancedAbout : chosen().about} />
      <FilterBar of={filter} />
      <Show when={unknown()}>{(name) => <Notice tone="warn">{text.noSuchSetting(name())}</Notice>}</Show>
      <DraftGuard />
      <ConflictDialog />
      <Read of={both(schema, settingsRead)}>
        {() => (
          <div class="settings-grid">
            <GroupMenu chosen={filter.isOn() ? null : chosen().key} present={present()} changedIn={changedIn} />
            <div class="stack">
              <For
                each={shown()}
                fallback={
                  <Card>
                    <Empty title={text.nothingFound}>{text.nothingFoundAbout}</Empty>
                  </Card>
                }
              >
                {(key) => (
                  <>
                    <GroupCard title={titleOfGroup(key)} names={namesOf(key)} schemas={schemas()} />
                    <Show when={key === 'sites'}>
                      <SitesNow />
                    </Show>
                  </>
                )}
              </For>
            </div>
          </div>
        )}
      </Read>
      <SaveBar />
    </>
  );
}
