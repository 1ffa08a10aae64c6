// Exclusions that would help against false alarms. The list comes at once; trying exclusions out takes seconds each,
// and what was found of one is shown as soon as it is there, in the place where its rule stands already.
import { createEffect, createMemo, createSignal, For, Index, Show, type JSX } from 'solid-js';
import { Refused, type Item, type Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { draft, edit, loadSettings, problems, save } from '../../client/settings-draft.js';
import { Badge, Button, Card, Empty, Foreign, type Tone } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { wafText as words } from '../../texts/waf.js';

type Suggestion = Item<'GET /api/fp-suggestions'>;
/** So many are tried by themselves, and by each wish for more; the server takes at most so many of one question. */
const [triedAtOnce, triedMax] = [5, 20];
/** An answer waits so long for trials; then the next question waits for what goes on. */
const budgetMs = 2000;

type Likelihood = Suggestion['likelihood'];

const verdictTones: Readonly<Record<Likelihood['verdict'], Tone>> = {
  likely_false: 'warn',
  unclear: 'info',
  likely_attack: 'neutral',
};

/** What speaks for and against, in words; what says nothing is left out. */
function reasonsOf({ features }: Likelihood): string[] {
  const percent = (share: number): string => String(Math.round(100 * share));
  const { attack_value_share: attacks, multi_attack_share: elsewhere } = features;
  return [
    ...(attacks === null ? [] : [words.valuesLikeAttacks(percent(attacks))]),
    words.clientsUseSite(percent(features.journey_share)),
    words.clientsKnown(percent(features.known_share)),
    words.hitsWithSession(percent(features.session_share)),
    ...(elsewhere > 0 ? [words.clientsAttackElsewhere(percent(elsewhere))] : []),
  ];
}

/** `12 likely false, 3 unclear`; nothing where all are the same, which the badge says. */
function mixOf({ hits }: Likelihood): string {
  const kinds = (['likely_false', 'unclear', 'likely_attack'] as const).filter((kind) => hits[kind] > 0);
  return kinds.length < 2
    ? ''
    : kinds.map((kind) => `${showCount(hits[kind])} ${words.hitsByVerdict[kind]}`).join(', ');
}

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
            <Badge tone={verdictTones[props.of.likelihood.verdict]}>
              {words.hitVerdicts[props.of.likelihood.verdict]}
            </Badge>
            <Badge tone={props.of.suggestion.state === 'verified' ? 'good' : 'neutral'}>
              {words.trialStates[props.of.suggestion.state]}
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
          <Show when={mixOf(props.of.likelihood)}>{(mix) => <> ({mix()})</>}</Show>
          {'. '}
          {reasonsOf(props.of.likelihood).join(', ')}.
        </span>
        <p class="sentence">{words.untried[props.of.suggestion.state] ?? props.of.suggestion.reason}</p>
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

const isSettled = ({ suggestion: { state } }: Suggestion): boolean => state !== 'not_tried' && state !== 'trying';

/** Whether the next answer will know more. */
const isUnderWay = (items: readonly Suggestion[], wanted: number): boolean =>
  items.some(({ suggestion }) => suggestion.state === 'trying') ||
  items.filter(isSettled).length < Math.min(wanted, items.length);

/** Each stays where it was shown first: what arrives must not move a button from under somebody's hand. */
function inPlace(items: readonly Suggestion[], before: readonly Suggestion[]): readonly Suggestion[] {
  const places = new Map(before.map(({ rule_id: id }, place) => [id, place]));
  const placeOf = ({ rule_id: id }: Suggestion): number => places.get(id) ?? before.length;
  return items.toSorted((left, right) => placeOf(left) - placeOf(right));
}

export function Suggestions(): JSX.Element {
  const [wanted, setWanted] = createSignal(0);
  const query = () => ({ query: { verify: wanted(), budget_ms: budgetMs } });
  const suggestions = createQuery('GET /api/fp-suggestions', query, { isMoving: true });
  const shown = createMemo<readonly Suggestion[]>((before) => inPlace(suggestions.data()?.items ?? [], before), []);
  const isTrying = (): boolean => suggestions.problem() === null && isUnderWay(shown(), wanted());
  createEffect((before: Reply<'GET /api/fp-suggestions'> | undefined) => {
    const answer = suggestions.data();
    if (answer === before || answer === undefined || answer.items.length === 0) return answer;
    if (wanted() === 0) setWanted(triedAtOnce);
    else if (isUnderWay(answer.items, wanted()) && !suggestions.isLoading()) void suggestions.reload();
    return answer;
  });
  return (
    <>
      <Show when={isTrying()}>
        <p class="row muted" role="status">
          <span class="spinner" aria-hidden="true" />
          {words.tryingExclusionsAgainstRecorded}
        </p>
      </Show>
      <Read of={suggestions}>
        {() => (
          <Show
            when={shown().length > 0}
            fallback={
              <Card>
                <Empty title={words.noRuleHasTripped} />
              </Card>
            }
          >
            <div class="grid-2 is-ragged">
              <Index each={shown()}>{(one) => <SuggestionCard of={one()} />}</Index>
            </div>
            <Show when={wanted() < triedMax && shown().some((one) => one.suggestion.state === 'not_tried')}>
              <div>
                <Button
                  disabled={isTrying()}
                  onClick={() => setWanted((before) => Math.min(triedMax, before + triedAtOnce))}
                >
                  {words.tryMore(triedAtOnce)}
                </Button>
              </div>
            </Show>
          </Show>
        )}
      </Read>
    </>
  );
}
