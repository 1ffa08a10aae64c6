// False positives: which rules trip most, how likely falsely, exclusions that were tried out, and whether the ones that
// exist are still needed.
import { createEffect, createSignal, For, Show, untrack, type JSX } from 'solid-js';
import { Refused, type Item, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { draft, edit, loadSettings, problems, save } from '../../client/settings-draft.js';
import { Badge, Button, Card, Empty, Foreign, PageHead, Tabs, type Tone } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { wafText as words } from '../../texts/waf.js';

type Suggestion = Item<'GET /api/fp-suggestions'>;
/** Each trial takes seconds of the server; it takes at most so many of one question. */
const [triedAtOnce, triedMax] = [5, 20];
type Evidence = Reply<'GET /api/rules/evidence'>;

const likelihoodTone = (score: number): Tone => (score >= 70 ? 'warn' : score >= 40 ? 'info' : 'neutral');

async function take(suggestion: Suggestion): Promise<void> {
  await loadSettings();
  const before = (draft()?.['rule_exclusions'] ?? []) as readonly unknown[];
  edit('rule_exclusions', [...before, ...suggestion.suggestion.rule_exclusions]);
  if (await save(['rule_exclusions'])) tell(words.exclusionSavedForceOnce);
  else
    tell(
      problems()
        .map((one) => `${one.path} ${one.reason}`)
        .join('; ') || words.somebodyElseSavedMeanwhile,
      true,
    );
}

function SuggestionCard(props: { readonly of: Suggestion }): JSX.Element {
  const [isBusy, setBusy] = createSignal(false);
  const accept = async (): Promise<void> => {
    setBusy(true);
    try {
      await take(props.of);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="card">
      <header>
        <div>
          <div class="row wrap">
            <a class="mono" href={`/soc?rule_id=${props.of.rule_id}`}>
              {props.of.rule_id}
            </a>
            <Badge tone={likelihoodTone(props.of.likelihood.score)}>
              {words.ofLikelyFalseOf(props.of.likelihood.score)}
            </Badge>
            <Badge tone={props.of.suggestion.state === 'verified' ? 'good' : 'neutral'}>
              {props.of.suggestion.state.replaceAll('_', ' ')}
            </Badge>
          </div>
          <h3>
            <Foreign text={props.of.message || words.ruleWithoutMessage} />
          </h3>
        </div>
        <Show when={props.of.suggestion.rule_exclusions.length > 0 && mayAs('operator')}>
          <Button isBusy={isBusy()} onClick={() => void accept()}>
            {words.saveThisExclusion}
          </Button>
        </Show>
      </header>
      <div class="body stack tight small">
        <span class="muted">
          {words.hitsFromClientsOf(showCount(props.of.hits), props.of.likelihood.features.distinct_clients)}
        </span>
        <p class="sentence">
          {props.of.suggestion.state === 'not_tried' ? words.notTried : props.of.suggestion.reason}
        </p>
        <ul class="stack tight">
          <For each={props.of.paths.slice(0, 4)}>
            {(path) => (
              <li class="row between">
                <code class="truncate">
                  <Foreign text={path.path} max={90} />
                </code>
                <span class="nums faint">{showCount(path.hits)}</span>
              </li>
            )}
          </For>
        </ul>
        <Show when={props.of.suggestion.seclang}>
          {(text) => (
            <details>
              <summary>{words.asSeclang}</summary>
              <pre class="code">{text()}</pre>
            </details>
          )}
        </Show>
      </div>
    </section>
  );
}

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
        of={ofRows(() => props.of.rules)}
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
  // The list comes at once, untried; trying exclusions takes seconds on a busy machine.
  const [tried, setTried] = createSignal(0);
  const suggestions = createQuery('GET /api/fp-suggestions', () => ({ query: { verify: tried() } }));
  createEffect(() => {
    if (suggestions.isAnswered() && untrack(tried) === 0 && (suggestions.data()?.items.length ?? 0) > 0)
      setTried(triedAtOnce);
  });
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
        <Show when={suggestions.isLoading() && suggestions.data() !== undefined}>
          <p class="row muted" role="status">
            <span class="spinner" aria-hidden="true" />
            {words.tryingExclusionsAgainstRecorded}
          </p>
        </Show>
        <Read of={suggestions}>
          {(data) => (
            <Show
              when={data().items.length > 0}
              fallback={
                <Card>
                  <Empty title={words.noRuleHasTripped} />
                </Card>
              }
            >
              <div class="grid-2 is-ragged">
                <For each={data().items}>{(one) => <SuggestionCard of={one} />}</For>
              </div>
              <Show when={tried() < triedMax && data().items.some((one) => one.suggestion.state === 'not_tried')}>
                <div>
                  <Button
                    isBusy={suggestions.isLoading()}
                    onClick={() => setTried((before) => Math.min(triedMax, before + triedAtOnce))}
                  >
                    {words.tryMore(triedAtOnce)}
                  </Button>
                </div>
              </Show>
            </Show>
          )}
        </Read>
      </Show>
    </>
  );
}
