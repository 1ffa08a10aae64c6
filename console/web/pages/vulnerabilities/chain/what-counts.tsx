// What the engine takes for a hop, and which combinations it looks for: the rules of toxic combinations with the pack
// that is switched on, and the capability that each kind of weakness gives to an attacker.
import { A, useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, Show, type JSX } from 'solid-js';
import type { Item } from '../../../client/http.js';
import { showCount } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { mayAs } from '../../../client/session.js';
import { createVmAccess } from '../../../client/vm-access.js';
import { Badge, Button, Card, Foreign } from '../../../kit/basics.js';
import { SelectField, TextField } from '../../../kit/form.js';
import { Overlay } from '../../../kit/overlays.js';
import { Table, type TableColumn } from '../../../kit/table/table.js';
import { ofQuery } from '../../../kit/table/table-source.js';
import { chainsText as words } from '../../../texts/vm/chains.js';
import { ownGraphText as ownText } from '../../../texts/vm/models/own-graph.js';
import { OwnCapabilities } from './own-capabilities.js';
import { ToxicRuleForm, ToxicRuleRemoval } from './own-toxic-rule.js';
import { findCapabilities } from './find-capabilities.js';

type Rule = Item<'GET /api/v1/graph/toxic-rules'>;
type Capability = Item<'GET /api/v1/graph/capabilities'>;

const packName = (pack: string): string => (words.packs as Readonly<Record<string, string>>)[pack] ?? pack;
const pivotName = (pivot: string | null): string =>
  pivot === null ? '–' : ((words.pivots as Readonly<Record<string, string>>)[pivot] ?? pivot);

const ruleColumns: readonly TableColumn<Rule>[] = [
  {
    title: words.state,
    sortBy: ({ enabled }) => (enabled ? 0 : 1),
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'neutral'}>{enabled ? words.isOn : words.isOff}</Badge>,
  },
  { title: words.rule, sortBy: ({ name }) => name, cell: ({ name }) => name },
  { title: words.pack, sortBy: ({ pack }) => pack, cell: ({ pack }) => packName(pack) },
  { title: words.slug, class: 'mono', sortBy: ({ slug }) => slug, cell: ({ slug }) => slug },
];

const capabilityColumns: readonly TableColumn<Capability>[] = [
  {
    title: words.weakness,
    sortBy: ({ cwe }) => Number(cwe.replace('CWE-', '')),
    cell: ({ cwe }) => <A href={`/vulnerabilities?cwe=${cwe.replace('CWE-', '')}`}>{cwe}</A>,
  },
  { title: words.named, sortBy: ({ label }) => label, cell: ({ label }) => <Foreign text={label} max={120} /> },
  { title: words.stage, cell: (one) => one.stage_label },
  {
    title: words.capability,
    sortBy: ({ capability }) => capability,
    cell: ({ capability }) => <span class="mono">{capability}</span>,
  },
  {
    title: words.technique,
    cell: ({ mitre, technique }) => (
      <span>
        {technique} <span class="mono faint">{mitre}</span>
      </span>
    ),
  },
  { title: words.pivot, cell: ({ pivot_class: pivot }) => pivotName(pivot) },
];

function ToxicRules(): JSX.Element {
  const rules = createQuery('GET /api/v1/graph/toxic-rules');
  const access = createVmAccess();
  const mayEdit = (): boolean => access.may('edit_graph');
  const [isAdding, setAdding] = createSignal(false);
  const changed = (): void => {
    setAdding(false);
    void rules.reload();
  };
  const withRemoval = (): readonly TableColumn<Rule>[] => [
    ...ruleColumns,
    {
      title: ownText.remove,
      cell: ({ id, name }) => (
        <Show when={id} fallback="–">
          {(found) => <ToxicRuleRemoval id={found()} name={name} onDone={changed} />}
        </Show>
      ),
    },
  ];
  const counted = createMemo(() => {
    const items = rules.data()?.items ?? [];
    return [items.filter(({ enabled }) => enabled).length, items.length] as const;
  });
  return (
    <Card
      isFlush
      title={words.toxicRules}
      actions={
        <>
          <Show when={mayAs('admin')}>
            <A href="/admin/settings/vulnerabilities#vm_toxic_pack">{words.switchPack}</A>
          </Show>
          <Show when={mayEdit()}>
            <Button isSmall look="primary" icon="plus" onClick={() => setAdding(true)}>
              {ownText.newRule}
            </Button>
          </Show>
        </>
      }
    >
      <div class="body stack tight">
        <p class="muted">{words.toxicRulesAbout}</p>
        <Show when={rules.data()}>
          <p role="status">{words.rulesOn(showCount(counted()[0]), showCount(counted()[1]))}</p>
        </Show>
      </div>
      <Table
        label={words.toxicRules}
        columns={mayEdit() ? withRemoval() : ruleColumns}
        of={ofQuery(rules, ({ items }) => items)}
        keyOf={({ slug }) => slug}
        empty={words.noRules}
      />
      <Overlay isOpen={isAdding()} title={ownText.newRule} onClose={() => setAdding(false)}>
        <ToxicRuleForm onAdded={changed} />
      </Overlay>
    </Card>
  );
}

function Capabilities(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const value = (name: string): string => (typeof search[name] === 'string' ? search[name] : '');
  const capabilities = createQuery('GET /api/v1/graph/capabilities');
  const stages = createMemo((): readonly (readonly [string, string])[] => [
    ['', words.anyStage],
    ...new Map((capabilities.data()?.items ?? []).map(({ stage, stage_label: label }) => [stage as string, label])),
  ]);
  return (
    <>
      <Show when={capabilities.data()}>
        {(data) => <OwnCapabilities of={data()} onChanged={() => void capabilities.reload()} />}
      </Show>
      <Card isFlush title={words.capabilities}>
        <div class="body stack">
          <p class="muted">{words.capabilitiesAbout}</p>
          <div class="narrow-grid">
            <TextField
              label={words.find}
              value={value('find')}
              placeholder={words.findHint}
              onInput={(typed) => setSearch({ find: typed }, { replace: true })}
            />
            <SelectField
              label={words.stage}
              value={value('stage')}
              options={stages()}
              onChange={(stage) => setSearch({ stage })}
            />
          </div>
          <Show when={capabilities.data()}>
            {(data) => <p class="faint small">{words.versions(data().classifier_version, data().attack_version)}</p>}
          </Show>
        </div>
        <Table
          label={words.capabilities}
          columns={capabilityColumns}
          of={ofQuery(
            capabilities,
            ({ items }) => findCapabilities(items, value('find'), value('stage')),
            ({ items }) => items.length,
          )}
          keyOf={({ cwe }) => cwe}
          empty={words.noCapability}
          emptyAbout={words.noCapabilityAbout}
        />
      </Card>
    </>
  );
}

export function WhatCounts(): JSX.Element {
  return (
    <div class="stack">
      <ToxicRules />
      <Capabilities />
    </div>
  );
}
