// How the rule set inspects: the mode, how strict, and the thirteen categories with the paths they leave alone.
import { A } from '@solidjs/router';
import { For, onMount, Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { draft, edit, loadSettings, problems } from '../../client/settings-draft.js';
import { Badge, Card, Loading, PageHead } from '../../kit/basics.js';
import { AreaField, SelectField, Switch, TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { ConflictDialog } from '../settings/conflict.js';
import { linesFrom, numberFrom } from '../settings/schema.js';
import { SaveBar } from '../settings/settings.js';
import { Profiles } from './profiles.js';

type Category = Item<'GET /api/rules/categories'>;
interface CategorySetting {
  readonly enabled: boolean;
  readonly path_exclusions: readonly string[];
}

const own = ['mode', 'paranoia_level', 'inbound_threshold', 'outbound_threshold', 'categories'];

const about: Readonly<Record<string, string>> = {
  sqli: 'SQL injection',
  xss: 'Cross-site scripting',
  rce: 'Remote command execution, web shells',
  php: 'PHP injection',
  java: 'Java, Log4j, deserialisation',
  generic: 'Template, Node.js and generic injection',
  lfi: 'Local file inclusion, traversal',
  rfi: 'Remote file inclusion, SSRF',
  protocol: 'Protocol enforcement, request smuggling',
  method: 'Method enforcement',
  scanner: 'Scanner detection',
  fixation: 'Session fixation',
  dataleak: 'Data leaks in answers',
};

const levels = [
  ['1', '1: few false positives; begin here'],
  ['2', '2: stricter; expect some tuning'],
  ['3', '3: strict; for sensitive sites with tuning'],
  ['4', '4: paranoid; much ordinary traffic trips'],
] as const;

const problemOf = (path: string): string | null => problems().find((one) => one.path.startsWith(path))?.reason ?? null;
const value = (name: string): string => String((draft()?.[name] ?? '') as string | number);

function Strictness(): JSX.Element {
  const isFixed = (): boolean => !mayAs('operator');
  return (
    <Card title="How it decides">
      <div class="grid-2">
        <SelectField
          label="Mode"
          value={value('mode')}
          options={[
            ['On', 'On: attacks are blocked'],
            ['DetectionOnly', 'DetectionOnly: attacks are logged, and reach the application'],
          ]}
          isDisabled={isFixed()}
          onChange={(chosen) => edit('mode', chosen)}
        />
        <SelectField
          label="Paranoia level"
          value={value('paranoia_level')}
          options={levels}
          isDisabled={isFixed()}
          help="How much the rules look for. Higher finds more, and is wrong more often."
          onChange={(chosen) => edit('paranoia_level', Number(chosen))}
        />
        <TextField
          label="Inbound threshold"
          value={value('inbound_threshold')}
          unit="points"
          isDisabled={isFixed()}
          problem={problemOf('/inbound_threshold')}
          help="A critical rule adds 5 points; a request is blocked from this sum on."
          onInput={(text) => edit('inbound_threshold', numberFrom(text))}
        />
        <TextField
          label="Outbound threshold"
          value={value('outbound_threshold')}
          unit="points"
          isDisabled={isFixed()}
          problem={problemOf('/outbound_threshold')}
          help="The same for answers."
          onInput={(text) => edit('outbound_threshold', numberFrom(text))}
        />
      </div>
    </Card>
  );
}

function CategoryCard(props: { readonly category: Category }): JSX.Element {
  const all = (): Readonly<Record<string, CategorySetting>> =>
    (draft()?.['categories'] ?? {}) as Readonly<Record<string, CategorySetting>>;
  const mine = (): CategorySetting =>
    all()[props.category.key] ?? { enabled: props.category.enabled, path_exclusions: props.category.path_exclusions };
  const change = (part: Partial<CategorySetting>): void =>
    edit('categories', { ...all(), [props.category.key]: { ...mine(), ...part } });
  return (
    <section class="card">
      <header class="fixed">
        <div>
          <h3>{about[props.category.key] ?? props.category.key}</h3>
          <div class="row small faint">
            <code>{props.category.key}</code> {props.category.rules ?? '–'} rules
            <Show when={mine().path_exclusions.length > 0}>
              <Badge tone="warn">{mine().path_exclusions.length} excluded paths</Badge>
            </Show>
          </div>
        </div>
        <Switch
          label={about[props.category.key] ?? props.category.key}
          isLabelHidden
          isOn={mine().enabled}
          isDisabled={!mayAs('operator')}
          onChange={(enabled) => change({ enabled })}
        />
      </header>
      <details>
        <summary class="summary small muted">Paths and tags</summary>
        <div class="body stack tight under">
          <AreaField
            label="Paths it leaves alone"
            rows={3}
            value={mine().path_exclusions.join('\n')}
            placeholder="/editor"
            help="One a line, with what lies below; * is one segment."
            problem={problemOf(`/categories/${props.category.key}`)}
            isDisabled={!mayAs('operator')}
            onInput={(text) => change({ path_exclusions: linesFrom(text) })}
          />
          <For each={props.category.tags}>
            {(tag) => (
              <span class="small faint mono">
                {tag.tag} ({tag.rules ?? '–'})
              </span>
            )}
          </For>
        </div>
      </details>
    </section>
  );
}

export function RuleSet(): JSX.Element {
  const categories = createQuery('GET /api/rules/categories');
  onMount(() => void loadSettings());
  return (
    <>
      <PageHead
        title="Rule set"
        about={
          <>
            OWASP Core Rule Set {categories.data()?.crs_version ?? ''}. Each category can be off, or leave some paths
            alone; a single rule is better excluded under <A href="/waf/tuning">Tuning</A>.
          </>
        }
      />
      <SaveBar names={own} />
      <ConflictDialog />
      <Read of={categories}>
        {(data) => (
          <Show when={draft() !== null} fallback={<Loading />}>
            <Strictness />
            <Profiles />
            <div class="grid-3">
              <For each={data().items}>{(category) => <CategoryCard category={category} />}</For>
            </div>
          </Show>
        )}
      </Read>
    </>
  );
}
