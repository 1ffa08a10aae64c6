// False positives: exclusions that would help, and whether the ones that exist are still needed.
import { createSignal, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Foreign, PageHead, Tabs } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { wafText as words } from '../../texts/waf.js';
import { isSummary } from '../events/event-text.js';
import { Suggestions } from './suggestions.js';

type Evidence = Reply<'GET /api/rules/evidence'>;

function RuleHits(props: { readonly of: Evidence }): JSX.Element {
  const columns: readonly TableColumn<Evidence['rules'][number]>[] = [
    {
      title: words.rule,
      cell: (rule) => (
        <>
          <a class="mono" href={`/soc?rule_id=${rule.rule_id}`}>
            {rule.rule_id}
          </a>{' '}
          <Foreign text={rule.name} />
        </>
      ),
    },
    { title: words.kind, sortBy: (rule) => rule.kind, cell: (rule) => rule.kind },
    { title: words.hits, isNumber: true, sortBy: (rule) => rule.hits, cell: (rule) => showCount(rule.hits) },
    { title: words.last, class: 'nums', sortBy: (rule) => rule.last_at, cell: (rule) => showMoment(rule.last_at) },
  ];
  return (
    <Card title={words.rulesTrip} isFlush>
      <Table
        label={words.rulesTrip}
        columns={columns}
        of={ofRows(() => props.of.rules.filter((rule) => !isSummary(rule)))}
        keyOf={(rule) => String(rule.rule_id)}
        empty={words.noRuleHasTripped2}
      />
    </Card>
  );
}

function EvidenceTables(props: { readonly of: Evidence }): JSX.Element {
  const columns: readonly TableColumn<Evidence['exclusions'][number]>[] = [
    {
      title: words.exclusion,
      cell: (one) => (
        <>
          <span class="mono">{one.rule_id ?? one.tag}</span> {one.target}
          <div class="faint">{one.reason}</div>
        </>
      ),
    },
    {
      title: words.where,
      class: 'mono',
      cell: (one) => (
        <>
          {one.method} {one.path ?? 'everywhere'}
        </>
      ),
    },
    { title: words.requests, isNumber: true, sortBy: (one) => one.requests, cell: (one) => showCount(one.requests) },
    { title: words.ends, class: 'nums', sortBy: (one) => one.expires_at, cell: (one) => showMoment(one.expires_at) },
    {
      title: words.proposal,
      cell: (one) => (
        <>
          <Badge tone={one.proposal.action === 'keep' ? 'good' : 'warn'}>{one.proposal.action}</Badge>{' '}
          <span class="small">{one.proposal.reason}</span>
        </>
      ),
    },
  ];
  return (
    <div class="stack">
      <Card title={words.exclusions} isFlush>
        <Table
          label={words.exclusions}
          columns={columns}
          of={ofRows(() => props.of.exclusions)}
          keyOf={(one) => String(one.id)}
          empty={words.thereAreNoExclusions}
        />
      </Card>
      <RuleHits of={props.of} />
    </div>
  );
}

export function Tuning(): JSX.Element {
  const [tab, setTab] = createSignal<'suggestions' | 'evidence'>('suggestions');
  const evidence = createQuery('GET /api/rules/evidence', () => (tab() === 'evidence' ? {} : null));
  return (
    <>
      <PageHead title={words.tuning} about={words.exclusionsWereTriedAgainst} />
      <Tabs
        label={words.tuning}
        chosen={tab()}
        tabs={[
          ['suggestions', words.suggestions],
          ['evidence', words.evidence],
        ]}
        onChoose={setTab}
      />
      <Show
        when={tab() === 'suggestions'}
        fallback={<Read of={evidence}>{(data) => <EvidenceTables of={data()} />}</Read>}
      >
        <Suggestions />
      </Show>
    </>
  );
}
