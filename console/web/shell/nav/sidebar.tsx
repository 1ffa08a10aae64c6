// The side bar: pinned pages, and the sections in groups that can be closed.
import { A, useLocation } from '@solidjs/router';
import { createEffect, createMemo, For, onCleanup, onMount, Show, type JSX } from 'solid-js';
import { Icon, type IconName } from '../../kit/icons.js';
import { shellText as text } from '../../texts/shell.js';
import { BrandMark } from '../brand-mark.js';
import { brand, brandSub } from '../brand.js';
import { favourites } from './favourites.js';
import { navigation } from './navigation.js';
import type { NavEntry, NavGroup } from './page-entry.js';
import { placeOf, tabsOf } from './place.js';
import { followOtherWindows, storedList, storeList } from './stored-list.js';
import { walk } from './walk.js';

const closedGroups = (): readonly string[] => storedList('closed-groups', navigation.length);

function NavLink(props: {
  readonly href: string;
  readonly icon: IconName;
  readonly title: string;
  readonly isHere: boolean;
  readonly onLeave: () => void;
}): JSX.Element {
  const location = useLocation();
  const current = (): 'page' | 'true' | undefined =>
    props.isHere ? (location.pathname === props.href ? 'page' : 'true') : undefined;
  return (
    <li>
      <A class="nav-link" href={props.href} end aria-current={current()} onClick={props.onLeave}>
        <Icon name={props.icon} />
        {props.title}
      </A>
    </li>
  );
}

/** Also of a group that is closed, the entry that is open is in sight. */
function Group(props: {
  readonly of: NavGroup;
  readonly here: NavEntry | undefined;
  readonly onLeave: () => void;
}): JSX.Element {
  const isClosed = (): boolean => closedGroups().includes(props.of.key);
  const mayBeOpened = (): readonly NavEntry[] => props.of.entries.filter((entry) => tabsOf(entry).length > 0);
  const shown = (): readonly NavEntry[] => mayBeOpened().filter((entry) => !isClosed() || entry === props.here);
  const toggle = (): void => {
    const others = closedGroups().filter((key) => key !== props.of.key);
    storeList('closed-groups', isClosed() ? others : [...others, props.of.key]);
  };
  return (
    <Show when={mayBeOpened().length > 0}>
      <div class="nav-group">
        <h2>
          <button
            type="button"
            class="nav-fold"
            aria-expanded={!isClosed()}
            aria-controls={`nav-${props.of.key}`}
            onClick={toggle}
          >
            {props.of.title}
            <Icon name="fold" />
          </button>
        </h2>
        <ul id={`nav-${props.of.key}`}>
          <For each={shown()}>
            {(entry) => (
              <NavLink
                href={tabsOf(entry)[0]?.path ?? '/'}
                icon={entry.icon}
                title={entry.title}
                isHere={entry === props.here}
                onLeave={props.onLeave}
              />
            )}
          </For>
        </ul>
      </div>
    </Show>
  );
}

function Favourites(props: { readonly onLeave: () => void }): JSX.Element {
  const location = useLocation();
  const path = (): string | undefined => placeOf(location.pathname)?.tab.path;
  return (
    <Show when={favourites().length > 0}>
      <div class="nav-group">
        <h2>{text.favourites}</h2>
        <ul>
          <For each={favourites()}>
            {(page) => (
              <NavLink
                href={page.path}
                icon="star"
                title={page.title}
                isHere={page.path === path()}
                onLeave={props.onLeave}
              />
            )}
          </For>
        </ul>
      </div>
    </Show>
  );
}

export function Sidebar(props: { readonly isOpen: boolean; readonly onLeave: () => void }): JSX.Element {
  const location = useLocation();
  let list: HTMLElement | undefined;
  const here = createMemo(() => placeOf(location.pathname)?.entry);
  // in a low window the list is longer than it: the entry that is open is in sight
  createEffect(() => {
    here();
    const links = list?.querySelectorAll<HTMLElement>('.nav-link[aria-current]') ?? [];
    const link = [...links].at(-1);
    if (list === undefined || link === undefined) return;
    const isSeen = link.offsetTop >= list.scrollTop && link.offsetTop + link.offsetHeight <= list.clientHeight;
    if (!isSeen) list.scrollTop = link.offsetTop - list.clientHeight / 2;
  });
  // in a narrow window it lies above the page, and Tab would go on below it
  createEffect(() => {
    const linkOf = (which: string): HTMLElement | null | undefined => list?.querySelector(`.nav-link${which}`);
    if (props.isOpen) (linkOf('[aria-current]') ?? linkOf(''))?.focus();
  });
  onMount(() => onCleanup(followOtherWindows()));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && props.isOpen) props.onLeave();
    else walk(event, 'rows');
  };
  return (
    <nav
      ref={list}
      class="sidebar"
      id="navigation"
      aria-label={text.pages}
      data-open={props.isOpen}
      onKeyDown={onKeyDown}
    >
      <A class="brand" href="/" onClick={props.onLeave}>
        <BrandMark />
        <span>
          {brand} <small>{brandSub}</small>
        </span>
      </A>
      <Favourites onLeave={props.onLeave} />
      <For each={navigation}>{(group) => <Group of={group} here={here()} onLeave={props.onLeave} />}</For>
    </nav>
  );
}
