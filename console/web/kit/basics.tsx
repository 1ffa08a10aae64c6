// The small parts that every page is made of. Each shows all of its states; none knows what it is used for.
import { A } from '@solidjs/router';
import { children, createEffect, For, Show, splitProps, type JSX } from 'solid-js';
import { Icon, type IconName } from './icons.js';
import { Foreign, ForeignLines, told } from './foreign.js';

export { Foreign, ForeignLines };
import { kitText as words } from '../texts/kit.js';

export type Tone = 'danger' | 'warn' | 'good' | 'info' | 'neutral';

interface ButtonProps extends JSX.ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: 'primary' | 'danger' | 'plain';
  readonly isSmall?: boolean;
  readonly icon?: IconName;
  /** What it does is under way: it says so, and cannot be pressed again. */
  readonly isBusy?: boolean;
}

export function Button(props: ButtonProps): JSX.Element {
  const [own, others] = splitProps(props, ['look', 'isSmall', 'icon', 'isBusy', 'children', 'disabled', 'class']);
  return (
    <button
      type="button"
      {...others}
      class={`button ${own.look ?? ''} ${own.isSmall === true ? 'small' : ''} ${own.class ?? ''}`}
      disabled={own.disabled === true || own.isBusy === true}
      aria-busy={own.isBusy === true}
    >
      <Show when={own.isBusy === true} fallback={<Show when={own.icon}>{(name) => <Icon name={name()} />}</Show>}>
        <span class="spinner" />
      </Show>
      {own.children}
    </button>
  );
}

export function Badge(props: { readonly tone?: Tone; readonly children: JSX.Element }): JSX.Element {
  return <span class={`badge ${props.tone ?? ''}`}>{told(props.children)}</span>;
}

export function Notice(props: {
  readonly tone: Tone;
  readonly title?: string;
  readonly children?: JSX.Element;
}): JSX.Element {
  return (
    <div class={`notice ${props.tone}`} role={props.tone === 'danger' ? 'alert' : 'status'}>
      <Show when={props.title}>{(title) => <strong>{told(title())}</strong>}</Show>
      {told(props.children)}
    </div>
  );
}

export function Card(props: {
  readonly title?: JSX.Element;
  readonly actions?: JSX.Element;
  /** Without inner distance, for tables. */
  readonly isFlush?: boolean;
  readonly children: JSX.Element;
}): JSX.Element {
  // made once: a dialog among them that is made to see whether there is one stands in no document, and cannot open
  const actions = children(() => props.actions);
  return (
    <section class="card">
      <Show when={props.title !== undefined || actions.toArray().some((one) => one != null && one !== false)}>
        <header>
          <h2>{told(props.title)}</h2>
          <div class="row wrap">{actions()}</div>
        </header>
      </Show>
      <div class={props.isFlush === true ? '' : 'body'}>{props.children}</div>
    </section>
  );
}

export function PageHead(props: {
  readonly title: string;
  readonly about?: JSX.Element;
  readonly children?: JSX.Element;
}): JSX.Element {
  return (
    <div class="page-head">
      <div>
        <h1>{told(props.title)}</h1>
        <Show when={props.about}>
          <p>{told(props.about)}</p>
        </Show>
      </div>
      <div class="row wrap">{props.children}</div>
    </div>
  );
}

/** A number that opens what it counts. */
export function Figure(props: {
  readonly label: string;
  readonly value: JSX.Element;
  readonly note?: JSX.Element;
  readonly href?: string;
}): JSX.Element {
  const inner = (): JSX.Element => (
    <>
      <span class="label">{props.label}</span>
      <span class="value">{told(props.value)}</span>
      <span class="small faint">{told(props.note)}</span>
    </>
  );
  return (
    <Show when={props.href} fallback={<div class="figure">{inner()}</div>}>
      {(href) => (
        <A class="figure" href={href()}>
          {inner()}
        </A>
      )}
    </Show>
  );
}

export function Loading(props: { readonly what?: string }): JSX.Element {
  return (
    <div class="state" role="status">
      <span class="spinner" />
      <span>{props.what ?? words.loading}</span>
    </div>
  );
}

export function Empty(props: { readonly title: string; readonly children?: JSX.Element }): JSX.Element {
  return (
    <div class="state">
      <strong>{told(props.title)}</strong>
      <div>{props.children}</div>
    </div>
  );
}

export function Pairs(props: { readonly of: readonly (readonly [string, JSX.Element])[] }): JSX.Element {
  return (
    <dl class="pairs">
      <For each={props.of}>
        {([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{told(value)}</dd>
          </>
        )}
      </For>
    </dl>
  );
}

export function Tabs<Name extends string>(props: {
  readonly label: string;
  readonly tabs: readonly (readonly [Name, string])[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}): JSX.Element {
  let list: HTMLDivElement | undefined;
  // on a telephone they are moved sideways: the chosen one is in sight
  createEffect(() => {
    const at = props.tabs.findIndex(([name]) => name === props.chosen);
    const tab = list?.children[at];
    if (list !== undefined && tab instanceof HTMLElement)
      list.scrollLeft = tab.offsetLeft - list.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2;
  });
  const step = (by: number): void => {
    const at = props.tabs.findIndex(([name]) => name === props.chosen);
    const next = props.tabs[(at + by + props.tabs.length) % props.tabs.length];
    if (next === undefined) return;
    props.onChoose(next[0]);
    // the others are out of the order of Tab: the focus goes along with the choice
    queueMicrotask(() => list?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus());
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowRight') step(1);
    if (event.key === 'ArrowLeft') step(-1);
  };
  return (
    <div class="tabs" role="tablist" aria-label={props.label} onKeyDown={onKeyDown} ref={list}>
      <For each={props.tabs}>
        {([name, title]) => (
          <button
            type="button"
            class="tab"
            role="tab"
            aria-selected={props.chosen === name}
            tabindex={props.chosen === name ? 0 : -1}
            onClick={() => props.onChoose(name)}
          >
            {title}
          </button>
        )}
      </For>
    </div>
  );
}
