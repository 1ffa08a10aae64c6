// What the risk of a finding is made of, and which reports had it. Both are asked for once their fold is opened.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { showMoment } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Badge, Foreign, Pairs } from '../../../kit/basics.js';
import { Read } from '../../../kit/page-state.js';
import { textOf } from '../../governance/predicate.js';
import { findingsText as text } from '../../../texts/vm/findings.js';

function Fold(props: { readonly title: string; readonly children: () => JSX.Element }): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  return (
    <details class="fold" onToggle={(event) => event.currentTarget.open && setOpen(true)}>
      <summary>{props.title}</summary>
      <Show when={isOpen()}>
        <div class="stack tight">{props.children()}</div>
      </Show>
    </details>
  );
}

const factorName = (name: string): string => (text.factors as Readonly<Record<string, string>>)[name] ?? name;

function RiskMadeOf(props: { readonly id: string }): JSX.Element {
  const risk = createQuery('GET /api/v1/vulnerabilities/{id}/score-explain', () => ({ params: { id: props.id } }));
  const rows = (factors: unknown): readonly (readonly [string, JSX.Element])[] =>
    Object.entries((factors ?? {}) as Readonly<Record<string, unknown>>).map(([name, value]) => [
      factorName(name),
      <span class="nums">{typeof value === 'number' ? value.toFixed(2) : String(value)}</span>,
    ]);
  return (
    <Read of={risk}>
      {(data) => (
        <>
          <p>{text.riskIs(data().effective_risk, data().priority_score)}</p>
          <Pairs of={rows(data().factors)} />
        </>
      )}
    </Read>
  );
}

/** A sighting, as the manager keeps it. */
interface Occurrence {
  readonly tool?: string;
  readonly scope_key?: string;
  readonly location?: unknown;
  readonly last_seen?: string;
  readonly gone_at?: string | null;
}

/** Where a tool saw it: `src/a.ts:7` of code, otherwise what the place is made of, such as a URL. */
function placeOf(location: unknown): string {
  if (typeof location !== 'object' || location === null) return location == null ? '–' : textOf(location);
  const {
    kind: _,
    snippet: __,
    snippet_line: ___,
    path,
    line,
    ...others
  } = location as Readonly<Record<string, unknown>>;
  const named = path === undefined ? [] : [line == null ? textOf(path) : `${textOf(path)}:${textOf(line)}`];
  return [
    ...named,
    ...Object.values(others)
      .filter((value) => value != null && value !== '')
      .map(textOf),
  ].join(' ');
}

function Seen(props: { readonly id: string }): JSX.Element {
  const seen = createQuery('GET /api/v1/vulnerabilities/{id}/occurrences', () => ({ params: { id: props.id } }));
  return (
    <Read of={seen}>
      {(data) => (
        <ul class="stack tight">
          <For each={data().items as readonly Occurrence[]} fallback={<li class="muted">{text.notSeen}</li>}>
            {(one) => (
              <li class="stack tight">
                <span class="mono">
                  <Foreign text={placeOf(one.location)} max={300} />
                </span>
                <span class="small faint row wrap">
                  <Foreign text={text.seenBy(one.tool ?? '–', showMoment(one.last_seen))} max={200} />
                  <Show when={one.gone_at != null}>
                    <Badge>{text.gone}</Badge>
                  </Show>
                </span>
              </li>
            )}
          </For>
        </ul>
      )}
    </Read>
  );
}

export function Evidence(props: { readonly id: string }): JSX.Element {
  return (
    <section class="stack tight">
      <Fold title={text.riskMadeOf}>{() => <RiskMadeOf id={props.id} />}</Fold>
      <Fold title={text.seenWhere}>{() => <Seen id={props.id} />}</Fold>
    </section>
  );
}
