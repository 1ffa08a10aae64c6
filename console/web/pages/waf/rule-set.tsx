// How the rule set inspects: the mode, how strict, and the thirteen categories with the paths they leave alone.
import { A } from '@solidjs/router';
import { For, onMount, Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { both, createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { draft, edit, loadSettings, problems, settingsRead } from '../../client/settings-draft.js';
import { Badge, Card, PageHead } from '../../kit/basics.js';
import { AreaField, SelectField, Switch, TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { ConflictDialog } from '../settings/conflict.js';
import { linesFrom, numberFrom } from '../settings/schema.js';
import { DraftGuard, SaveBar } from '../settings/save-bar.js';
import { Profiles } from './profiles.js';
import { wafText as words } from '../../texts/waf.js';

type Category = Item<'GET /api/rules/categories'>;
interface CategorySetting {
  readonly enabled: boolean;
  readonly path_exclusions: readonly string[];
}

const own = ['mode', 'paranoia_level', 'inbound_threshold', 'outbound_threshold', 'categories'];

const about: Readonly<Record<string, string>> = {
  sqli: words.sqlInjection,
  xss: words.crossSiteScripting,
  rce: words.remoteCommandExecutionWeb,
  php: words.phpInjection,
  java: words.javaLog4jDeserialisation,
  generic: words.templateNodeJsGeneric,
  lfi: words.localFileInclusionTraversal,
  rfi: words.remoteFileInclusionSsrf,
  protocol: words.protocolEnforcementRequestSmuggling,
  method: words.methodEnforcement,
  scanner: words.scannerDetection,
  fixation: words.sessionFixation,
  dataleak: words.dataLeaksAnswers,
};

const levels = [
  ['1', words.n1FewFalsePositives],
  ['2', words.n2StricterExpectSome],
  ['3', words.n3StrictForSensitive],
  ['4', words.n4ParanoidMuchOrdinary],
] as const;

const problemOf = (path: string): string | null => problems().find((one) => one.path.startsWith(path))?.reason ?? null;
const value = (name: string): string => String((draft()?.[name] ?? '') as string | number);

function Strictness(): JSX.Element {
  const isFixed = (): boolean => !mayAs('operator');
  return (
    <Card title={words.howDecides}>
      <div class="grid-2">
        <SelectField
          label={words.mode}
          value={value('mode')}
          options={[
            ['On', words.onAttacksAreBlocked],
            ['DetectionOnly', words.detectiononlyAttacksAreLogged],
          ]}
          isDisabled={isFixed()}
          onChange={(chosen) => edit('mode', chosen)}
        />
        <SelectField
          label={words.paranoiaLevel}
          value={value('paranoia_level')}
          options={levels}
          isDisabled={isFixed()}
          help={words.howMuchRulesLook}
          onChange={(chosen) => edit('paranoia_level', Number(chosen))}
        />
        <TextField
          label={words.inboundThreshold}
          value={value('inbound_threshold')}
          unit={words.points}
          isDisabled={isFixed()}
          problem={problemOf('/inbound_threshold')}
          help={words.criticalRuleAdds5}
          onInput={(text) => edit('inbound_threshold', numberFrom(text))}
        />
        <TextField
          label={words.outboundThreshold}
          value={value('outbound_threshold')}
          unit={words.points}
          isDisabled={isFixed()}
          problem={problemOf('/outbound_threshold')}
          help={words.sameForAnswers}
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
            <code>{props.category.key}</code> {words.rulesOf(props.category.rules ?? '–')}
            <Show when={mine().path_exclusions.length > 0}>
              <Badge tone="warn">{words.excludedPathsOf(mine().path_exclusions.length)}</Badge>
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
        <summary class="summary small muted">{words.pathsTags}</summary>
        <div class="body stack tight under">
          <AreaField
            label={words.pathsLeavesAlone}
            rows={3}
            value={mine().path_exclusions.join('\n')}
            placeholder={words.editor}
            help={words.oneLineWhatLies}
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
        title={words.ruleSet}
        about={
          <>
            {words.owaspCoreRuleSetOf(categories.data()?.crs_version ?? '')}
            <A href="/waf/tuning">{words.tuning}</A>.
          </>
        }
      />
      <DraftGuard />
      <ConflictDialog />
      <Read of={both(categories, settingsRead)}>
        {() => (
          <>
            <Strictness />
            <Profiles />
            <div class="grid-3">
              <For each={categories.data()?.items ?? []}>{(category) => <CategoryCard category={category} />}</For>
            </div>
          </>
        )}
      </Read>
      <SaveBar names={own} />
    </>
  );
}
