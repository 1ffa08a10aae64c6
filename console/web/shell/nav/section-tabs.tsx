// The tabs of the section that is open, each with an address of its own, and the button that pins the open one.
import { A, useLocation } from '@solidjs/router';
import { createEffect, createMemo, For, Show, type JSX } from 'solid-js';
import { Icon } from '../../kit/icons.js';
import { tell } from '../../kit/overlays.js';
import { shellText as text } from '../../texts/shell.js';
import { favouritesMax, isFavourite, toggleFavourite } from './favourites.js';
import { mayOpen, type PageEntry } from './page-entry.js';
import { placeOf, tabsOf, type Place } from './place.js';
import { walk } from './walk.js';

function Pin(props: { readonly of: PageEntry }): JSX.Element {
  const isPinned = (): boolean => isFavourite(props.of.path);
  const toggle = (): void => {
    if (!toggleFavourite(props.of.path)) tell(text.favouritesFull(favouritesMax), true);
  };
  return (
    <button
      type="button"
      class="button plain small pin"
      aria-pressed={isPinned()}
      aria-label={text.pinPage(props.of.title)}
      title={isPinned() ? text.unpin : text.pin}
      onClick={toggle}
    >
      <Icon name="star" />
    </button>
  );
}

function Bar(props: { readonly of: Place }): JSX.Element {
  const location = useLocation();
  let list: HTMLUListElement | undefined;
  // in a narrow window they are one line that is moved sideways: the open one is in sight
  createEffect(() => {
    const at = tabsOf(props.of.entry).indexOf(props.of.tab);
    const tab = list?.children[at];
    if (list !== undefined && tab instanceof HTMLElement)
      list.scrollLeft = tab.offsetLeft - list.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2;
  });
  const current = (tab: PageEntry): 'page' | 'true' | undefined =>
    tab !== props.of.tab ? undefined : location.pathname === tab.path ? 'page' : 'true';
  return (
    <nav class="section-bar" aria-label={props.of.entry.title}>
      <ul ref={list} class="section-tabs" onKeyDown={(event) => walk(event, 'columns')}>
        <For each={tabsOf(props.of.entry)}>
          {(tab) => (
            <li>
              <A class="section-tab" href={tab.path} end aria-current={current(tab)}>
                {tab.title}
              </A>
            </li>
          )}
        </For>
      </ul>
      <Show when={mayOpen(props.of.tab)}>
        <Pin of={props.of.tab} />
      </Show>
    </nav>
  );
}

export function SectionTabs(): JSX.Element {
  const location = useLocation();
  const place = createMemo(
    () => {
      const found = placeOf(location.pathname);
      return found !== null && found.entry.tabs.length > 1 ? found : null;
    },
    null,
    { equals: (one, other) => one?.tab === other?.tab },
  );
  return <Show when={place()}>{(found) => <Bar of={found()} />}</Show>;
}
