// Other weights and another threshold over verdicts that are stored: what was decided then, what the settings of now
// would decide, and what those of the sliders would. The sliders are in the address.
import { A, useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, on, onCleanup, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Card, Empty } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Slider } from '../../kit/fields/slider.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { engineText } from '../../texts/engine/engine.js';
import { whatIfText as text } from '../../texts/engine/verdict.js';
import { ladderOf } from './risk-scale.js';
import { layers, rungs, rungTones, type Layer, type Rung } from './words.js';

type Result = Reply<'POST /api/ai/whatif'>;
type Flip = Result['flips'][number];
type Window = keyof typeof text.windows;

/** A slider that moves asks once it has come to rest. */
const restMs = 250;

interface Tried {
  readonly weights: Readonly<Partial<Record<Layer, number>>>;
  readonly threshold?: number;
}

const wholeIn = (given: unknown, min: number, max: number): number | undefined => {
  const value = typeof given === 'string' && given !== '' ? Number(given) : Number.NaN;
  return Number.isInteger(value) && value >= min && value <= max ? value : undefined;
};

/** What the sliders say, as far as it differs from the settings: the address has the rest. */
function createTried() {
  const [search, setSearch] = useSearchParams();
  const window = (): Window =>
    (Object.keys(text.windows) as Window[]).find((one) => one === search['window']) ?? '86400';
  const tried = createMemo<Tried>(() => {
    const threshold = wholeIn(search['threshold'], 1, 100);
    const weights = Object.fromEntries(
      layers.flatMap((layer) => {
        const weight = wholeIn(search[layer], 0, 100);
        return weight === undefined ? [] : [[layer, weight] as const];
      }),
    );
    return { weights, ...(threshold === undefined ? {} : { threshold }) };
  });
  const set = (values: Readonly<Record<string, string>>): void => setSearch(values, { replace: true });
  const reset = (): void => set(Object.fromEntries(['threshold', ...layers].map((name) => [name, ''])));
  const isChanged = (): boolean => tried().threshold !== undefined || Object.keys(tried().weights).length > 0;
  return { window, tried, set, reset, isChanged };
}
type Chosen = ReturnType<typeof createTried>;

function Sliders(props: { readonly of: Chosen; readonly now: Result }): JSX.Element {
  const threshold = (): number => props.of.tried().threshold ?? props.now.threshold;
  const ladder = () => ladderOf(threshold());
  return (
    <Card
      title={text.weights}
      actions={
        <>
          <Button isSmall disabled={!props.of.isChanged()} onClick={props.of.reset}>
            {text.reset}
          </Button>
          <A class="button small" href="/admin/settings/engine">
            {text.toSettings}
          </A>
        </>
      }
    >
      <div class="stack">
        <p class="small muted">{text.weightsHelp}</p>
        <div class="slider-grid">
          <For each={layers}>
            {(layer) => (
              <Slider
                label={engineText.layers[layer]}
                min={0}
                max={100}
                value={props.of.tried().weights[layer] ?? props.now.weights[layer]}
                help={text.asSet(props.now.weights[layer])}
                onInput={(value) => props.of.set({ [layer]: String(value) })}
              />
            )}
          </For>
          <Slider
            label={text.threshold}
            min={1}
            max={100}
            value={threshold()}
            help={`${text.thresholdHelp(ladder().CHALLENGE, ladder().RATE_LIMIT)}; ${text.asSet(props.now.threshold)}`}
            onInput={(value) => props.of.set({ threshold: String(value) })}
          />
          <SelectField
            label={text.window}
            value={props.of.window()}
            options={Object.entries(text.windows) as [Window, string][]}
            onChange={(window) => props.of.set({ window })}
          />
        </div>
      </div>
    </Card>
  );
}

interface RungRow {
  readonly rung: Rung;
  readonly then: number;
  readonly now: number;
  readonly tried: number;
}

function Compared(props: { readonly now: Result; readonly tried: Result }): JSX.Element {
  const rows = (): readonly RungRow[] =>
    rungs.map((rung) => ({
      rung,
      then: props.tried.before[rung],
      now: props.now.after[rung],
      tried: props.tried.after[rung],
    }));
  const bar = (count: number): JSX.Element => (
    <span class="compared">
      <meter class="points" min={0} max={Math.max(1, props.tried.looked_at)} value={count} aria-hidden="true" />
      <span class="nums">{showCount(count)}</span>
    </span>
  );
  const columns: readonly TableColumn<RungRow>[] = [
    {
      title: engineText.verdict,
      cell: ({ rung }) => <Badge tone={rungTones[rung]}>{engineText.rungs[rung]}</Badge>,
    },
    { title: text.then, cell: ({ then }) => bar(then) },
    { title: text.now, cell: ({ now }) => bar(now) },
    { title: text.tried, cell: ({ tried }) => bar(tried) },
  ];
  return (
    <Card
      isFlush
      title={text.result}
      actions={
        <span class="small muted">
          {(props.tried.truncated ? text.truncated : text.lookedAt)(showCount(props.tried.looked_at))}
        </span>
      }
    >
      <Show when={props.tried.looked_at > 0} fallback={<Empty title={text.noVerdicts}>{text.noVerdictsAbout}</Empty>}>
        <Table
          label={text.result}
          columns={columns}
          of={ofRows(rows)}
          keyOf={({ rung }) => rung}
          empty={text.noVerdicts}
        />
      </Show>
    </Card>
  );
}

function Flips(props: { readonly of: Result; readonly linkTo: (id: number) => string }): JSX.Element {
  const columns: readonly TableColumn<Flip>[] = [
    { title: text.from, cell: ({ from }) => <Badge tone={rungTones[from]}>{engineText.rungs[from]}</Badge> },
    { title: text.to, cell: ({ to }) => <Badge tone={rungTones[to]}>{engineText.rungs[to]}</Badge> },
    { title: text.count, isNumber: true, sortBy: ({ count }) => count, cell: ({ count }) => showCount(count) },
    {
      title: text.examples,
      cell: ({ examples }) => (
        <span class="row wrap wide">
          <For each={examples}>
            {(one) => (
              <A class="mono" href={props.linkTo(one.id)}>
                {text.exampleOf(one.address, one.risk_before, one.risk_after)}
              </A>
            )}
          </For>
        </span>
      ),
    },
  ];
  return (
    <Card isFlush title={text.flips}>
      <Table
        label={text.flips}
        columns={columns}
        of={ofRows(() => props.of.flips)}
        keyOf={({ from, to }) => `${from} ${to}`}
        empty={text.noFlips}
        emptyAbout={text.noFlipsAbout}
      />
    </Card>
  );
}

export function WhatIf(): JSX.Element {
  const chosen = createTried();
  const [search] = useSearchParams();
  const [asked, setAsked] = createSignal(chosen.tried());
  let timer: ReturnType<typeof setTimeout> | undefined;
  createEffect(
    on(
      chosen.tried,
      (tried) => {
        clearTimeout(timer);
        timer = setTimeout(() => setAsked(tried), restMs);
      },
      { defer: true },
    ),
  );
  onCleanup(() => clearTimeout(timer));
  const window = (): number => Number(chosen.window());
  const now = createQuery('POST /api/ai/whatif', () => ({ body: { window: window() } }));
  const tried = createQuery('POST /api/ai/whatif', () => {
    const { weights, threshold } = asked();
    return { body: { window: window(), weights, ...(threshold === undefined ? {} : { threshold }) } };
  });
  const linkTo = (id: number): string => {
    const named = Object.entries(search).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    return `/engine?${new URLSearchParams([...named.filter(([name]) => name !== 'verdict'), ['verdict', String(id)]])}`;
  };
  return (
    <>
      <p class="muted">{text.about}</p>
      <Read of={now}>
        {(data) => (
          <>
            <Sliders of={chosen} now={data()} />
            <Read of={tried}>
              {(result) => (
                <>
                  <Compared now={data()} tried={result()} />
                  <Flips of={result()} linkTo={linkTo} />
                </>
              )}
            </Read>
          </>
        )}
      </Read>
    </>
  );
}
