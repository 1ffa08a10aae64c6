// Why a verdict is what it is: each layer with its signals and what each was seen in, and what would have to be absent.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import { Badge, Foreign } from '../../kit/basics.js';
import { RuleLink } from '../../kit/evidence/rule-link.js';
import { engineText } from '../../texts/engine/engine.js';
import { verdictText as text } from '../../texts/engine/verdict.js';
import { layers, type Layer, type Signal, type Verdict } from './words.js';

const idsShown = 4;

const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** Ids of one kind, each with the place that it opens. */
function Links(props: {
  readonly ids: readonly string[];
  readonly to: (id: string) => string;
  readonly name?: (id: string, index: number) => string;
}): JSX.Element {
  return (
    <For each={props.ids.slice(0, idsShown)}>
      {(id, index) => (
        <A class="mono" href={props.to(id)}>
          <Foreign text={props.name?.(id, index()) ?? id} max={40} />
        </A>
      )}
    </For>
  );
}

const places: Readonly<
  Record<string, readonly [to: (id: string) => string, name?: (id: string, index: number) => string]>
> = {
  rules: [(id) => `/soc?rule_id=${encodeURIComponent(id)}`],
  request_ids: [(id) => `/requests?request_id=${encodeURIComponent(id)}`, (_, index) => text.request(index + 1)],
  findings: [
    (id) => `/inventory/threats?status=all&threat=${encodeURIComponent(id)}`,
    (id) => text.finding(id.slice(0, 8)),
  ],
};

function shown(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value * 100) / 100);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function Fact(props: { readonly name: string; readonly value: unknown }): JSX.Element {
  const label = (): string => (text.evidence as Readonly<Record<string, string>>)[props.name] ?? props.name;
  const place = () => places[props.name];
  return (
    <Show when={props.value !== null && (!Array.isArray(props.value) || props.value.length > 0)}>
      <span class="row wrap fact">
        <span class="faint">{label()}</span>
        <Show when={place()} fallback={<Foreign text={shown(props.value)} max={120} />}>
          {(found) => {
            if (props.name === 'rules')
              return <For each={listOf(props.value).slice(0, idsShown)}>{(id) => <RuleLink id={Number(id)} />}</For>;
            const [to, name] = found();
            return <Links ids={listOf(props.value)} to={to} {...(name === undefined ? {} : { name })} />;
          }}
        </Show>
      </span>
    </Show>
  );
}

function OneSignal(props: { readonly of: Signal }): JSX.Element {
  return (
    <li class="stack tight signal">
      <div class="row wrap between">
        <span class="row wrap">
          <strong>
            <Foreign text={props.of.name} max={120} />
          </strong>
          <For each={[...props.of.owasp, ...props.of.attack]}>{(one) => <Badge>{one}</Badge>}</For>
        </span>
        <span class="nums">{text.pointsOf(props.of.points)}</span>
      </div>
      <div class="row wrap wide small">
        <For each={Object.entries(props.of.evidence)}>{([name, value]) => <Fact name={name} value={value} />}</For>
      </div>
      <span class="small muted">
        {props.of.contribution > 0 ? text.contribution(props.of.contribution) : text.noContribution}
      </span>
    </li>
  );
}

function OneLayer(props: { readonly name: Layer; readonly of: Verdict }): JSX.Element {
  const points = (): number => props.of.layers[props.name] ?? 0;
  const signals = (): readonly Signal[] => props.of.why.filter(({ layer }) => layer === props.name);
  return (
    <section class="layer boxed">
      <header class="row wrap between">
        <h4>{engineText.layers[props.name]}</h4>
        <span class="small muted nums">{text.layerOf(points(), props.of.weights[props.name] ?? 0)}</span>
      </header>
      <Show when={signals().length > 0}>
        <meter class="points" min={0} max={100} value={points()} aria-label={engineText.layers[props.name]} />
        <ul class="stack plain-list">
          <For each={signals()}>{(signal) => <OneSignal of={signal} />}</For>
        </ul>
      </Show>
    </section>
  );
}

function WhyNot(props: { readonly of: Verdict }): JSX.Element {
  const nameOf = (code: string): string => props.of.why.find((one) => one.code === code)?.name ?? code;
  return (
    <section class="stack tight">
      <h3>{text.whyNot}</h3>
      <Show when={props.of.why_not.signals.length > 0} fallback={<p class="muted">{text.whyNotNone}</p>}>
        <p>{text.whyNotOf(props.of.why_not.risk, engineText.rungs[props.of.why_not.verdict])}</p>
        <div class="row wrap">
          <For each={props.of.why_not.signals}>{(code) => <Badge tone="info">{nameOf(code)}</Badge>}</For>
        </div>
        <Show when={props.of.why_not.skips}>
          <p class="small muted">{text.whyNotSkips}</p>
        </Show>
      </Show>
    </section>
  );
}

export function VerdictWhy(props: { readonly of: Verdict }): JSX.Element {
  return (
    <>
      <section class="stack tight">
        <h3>{text.why}</h3>
        <p class="muted">{text.whyAbout}</p>
        <For each={layers}>{(layer) => <OneLayer name={layer} of={props.of} />}</For>
      </section>
      <WhyNot of={props.of} />
    </>
  );
}
