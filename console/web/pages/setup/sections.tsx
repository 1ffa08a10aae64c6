// Settings of one subject as a page for people: a few sections, each with its sentence; what is typed is the same draft
// that the view of all settings shows. Who may not change a setting reads its value.
import { createMemo, For, onMount, Show, type JSX } from 'solid-js';
import { both, createQuery } from '../../client/query.js';
import { mayAs, type Role } from '../../client/session.js';
import { draft, edit, loadSettings, problems, settingsRead, type SettingsValues } from '../../client/settings-draft.js';
import { Card, Foreign, Pairs } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { ConflictDialog } from '../settings/conflict.js';
import { SchemaField } from '../settings/schema-field.js';
import { titleOf, type SettingSchema } from '../settings/schema.js';
import { DraftGuard, SaveBar } from '../settings/save-bar.js';
import { shownValue } from './shown-value.js';

export interface Section {
  readonly title: string;
  readonly about: string;
  readonly names: readonly string[];
  /** Settings of it that matter under the draft as it is; absent: all. */
  readonly shown?: (values: SettingsValues) => readonly string[];
}

type Schemas = Readonly<Record<string, SettingSchema>>;

const isMine = (schema: SettingSchema | undefined): boolean => mayAs((schema?.['x-access'] ?? 'admin') as Role);

function SectionCard(props: { readonly of: Section; readonly schemas: Schemas }): JSX.Element {
  const names = createMemo(() => props.of.shown?.(draft() ?? {}) ?? props.of.names);
  const mine = createMemo(() => names().filter((name) => isMine(props.schemas[name])));
  const others = createMemo(() => names().filter((name) => !isMine(props.schemas[name])));
  return (
    <Card title={props.of.title}>
      <div class="stack form">
        <p class="muted">{props.of.about}</p>
        <For each={mine()}>
          {(name) => (
            <div id={name}>
              <SchemaField
                schema={props.schemas[name] ?? {}}
                path={`/${name}`}
                label={titleOf(name)}
                value={draft()?.[name]}
                problems={problems()}
                isDisabled={false}
                onChange={(value) => edit(name, value)}
              />
            </div>
          )}
        </For>
        <Show when={others().length > 0}>
          <Pairs
            of={others().map((name) => [
              titleOf(name),
              <Foreign text={shownValue(draft()?.[name], props.schemas[name])} max={500} />,
            ])}
          />
        </Show>
      </div>
    </Card>
  );
}

export function Sections(props: { readonly of: readonly Section[] }): JSX.Element {
  const schema = createQuery('GET /api/settings/schema');
  onMount(() => void loadSettings());
  const schemas = (): Schemas => (schema.data() as { readonly properties?: Schemas } | undefined)?.properties ?? {};
  const names = props.of.flatMap((section) => section.names);
  return (
    <>
      <DraftGuard />
      <ConflictDialog />
      <div>
        <Read of={both(schema, settingsRead)}>
          {() => (
            <div class="stack">
              <For each={props.of}>{(section) => <SectionCard of={section} schemas={schemas()} />}</For>
            </div>
          )}
        </Read>
        <SaveBar names={names} />
      </div>
    </>
  );
}
