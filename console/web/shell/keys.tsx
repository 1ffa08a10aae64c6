// Keys that work everywhere, and the list of them (?).
import { useNavigate } from '@solidjs/router';
import { For, onCleanup, onMount, type JSX } from 'solid-js';
import { Overlay } from '../kit/overlays.js';
import { shellText as text } from '../texts/shell.js';
import { allPages } from './nav/navigation.js';
import { mayOpen } from './nav/page-entry.js';

/** `g`, then one of these: to the page with that address. */
const goKeys: Readonly<Record<string, string>> = {
  o: '/',
  e: '/soc',
  r: '/requests',
  w: '/waf',
  l: '/protection/limits',
  m: '/protection/addresses',
  s: '/admin/settings',
  c: '/admin/changes',
  n: '/admin/nodes',
  a: '/admin/audit',
};
const secondKeyMs = 1500;
const fields = 'input, textarea, select, [contenteditable="true"], dialog';

const titleOf = (path: string): string => allPages.find((page) => page.path === path)?.title ?? path;

function Rows(props: { readonly title: string; readonly rows: readonly (readonly [string, string])[] }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{props.title}</h3>
      <dl class="pairs">
        <For each={props.rows}>
          {([keys, about]) => (
            <>
              <dt>
                <For each={keys.split(' ')}>{(key) => <kbd>{key}</kbd>}</For>
              </dt>
              <dd>{about}</dd>
            </>
          )}
        </For>
      </dl>
    </section>
  );
}

export function KeyHelp(props: { readonly isOpen: boolean; readonly onClose: () => void }): JSX.Element {
  return (
    <Overlay isOpen={props.isOpen} title={text.keyboardHelp} onClose={props.onClose}>
      <Rows
        title={text.everywhere}
        rows={[
          [text.keysPalette, text.goPageOrDo],
          ['?', text.keyboardHelp],
          [text.keysClose, text.keyClose],
          ...Object.entries(goKeys).map(([key, path]) => [`g ${key}`, titleOf(path)] as const),
        ]}
      />
      <Rows
        title={text.inTables}
        rows={[
          ['↓ ↑ j k', text.keyWalk],
          [text.keysEnds, text.keyEnds],
          [text.keyEnter, text.keyOpen],
        ]}
      />
    </Overlay>
  );
}

/** `?` shows the keys; `g` and a letter go to a page. Nothing of it while something is typed. */
export function useKeys(showHelp: () => void): void {
  const navigate = useNavigate();
  let goSinceMs = 0;
  const listen = (event: KeyboardEvent): void => {
    // the path: the editor of rules is behind a shadow root, and would look like any other element
    const isTyping = event.composedPath().some((one) => one instanceof Element && one.matches(fields));
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const path = event.timeStamp - goSinceMs < secondKeyMs ? goKeys[event.key] : undefined;
    goSinceMs = event.key === 'g' ? event.timeStamp : 0;
    if (event.key === '?') showHelp();
    else if (path !== undefined && allPages.some((page) => page.path === path && mayOpen(page))) navigate(path);
    else return;
    event.preventDefault();
  };
  onMount(() => document.addEventListener('keydown', listen));
  onCleanup(() => document.removeEventListener('keydown', listen));
}
