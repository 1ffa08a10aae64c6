// The frame of every page: where one is, what is not active yet, who one is.
import { A } from '@solidjs/router';
import { createEffect, createSignal, Show, type JSX, type ParentProps } from 'solid-js';
import { isSessionLost, written } from '../client/http.js';
import { account, logOut, mayAs } from '../client/session.js';
import { createQuery } from '../client/query.js';
import { forgetHeld, readHeld } from '../client/vm-access.js';
import { Badge, Button } from '../kit/basics.js';
import { Icon } from '../kit/icons.js';
import { Overlay, Toasts } from '../kit/overlays.js';
import { Updated } from './failed.js';
import { LoginForm } from './login.js';
import { KeyHelp, useKeys } from './keys.js';
import { SectionTabs } from './nav/section-tabs.js';
import { Sidebar } from './nav/sidebar.js';
import { onPaletteKey, Palette } from './palette.js';
import { theme, toggleTheme } from './theme.js';
import { shellText as text } from '../texts/shell.js';

/** Says when what is saved is not what serves. */
function Unapplied(): JSX.Element {
  const versions = createQuery('GET /api/config/versions', () => (written(), { query: { limit: 1 } }), {
    everyMs: 10_000,
  });
  const isWaiting = (): boolean => versions.data()?.items[0]?.active === false;
  return (
    <Show when={isWaiting()}>
      <A class="button" href="/admin/changes">
        <Badge tone="warn">{text.notActive}</Badge>
        <span class="hide-narrow">{text.reviewApply}</span>
      </A>
    </Show>
  );
}

function Topbar(props: {
  readonly isMenuOpen: boolean;
  readonly onMenu: () => void;
  readonly onPalette: () => void;
}): JSX.Element {
  return (
    <header class="topbar">
      <Button
        look="plain"
        class="menu-button"
        aria-label={text.pages}
        aria-controls="navigation"
        aria-expanded={props.isMenuOpen}
        onClick={props.onMenu}
      >
        <Icon name="menu" />
      </Button>
      <Button class="palette-button" look="plain" icon="search" onClick={props.onPalette}>
        <span class="unseen-narrow">{text.go}</span> <kbd>Ctrl K</kbd>
      </Button>
      <Unapplied />
      <Button
        look="plain"
        aria-label={theme() === 'dark' ? text.useLightTheme : text.useDarkTheme}
        onClick={toggleTheme}
      >
        <Icon name={theme() === 'dark' ? 'sun' : 'moon'} />
      </Button>
      <A class="button plain" href="/account" title={account()?.email ?? ''}>
        <span class="hide-narrow">{account()?.name}</span>
        <Badge>{account()?.role}</Badge>
      </A>
      <Button look="plain" aria-label={text.logOut} onClick={() => void logOut()}>
        <Icon name="out" />
      </Button>
    </header>
  );
}

export function Layout(props: ParentProps): JSX.Element {
  const [isMenuOpen, setMenuOpen] = createSignal(false);
  const [isPaletteOpen, setPaletteOpen] = createSignal(false);
  const [isHelpOpen, setHelpOpen] = createSignal(false);
  // the focus goes back to the button that opened it; in a wide window that is not there
  const closeMenu = (): void => {
    if (isMenuOpen()) document.querySelector<HTMLElement>('.menu-button')?.focus();
    setMenuOpen(false);
  };
  // who administers nothing may be offered more by a grant; it is asked for beside the page, which does not wait
  createEffect(() => {
    if (account() == null || mayAs('admin')) forgetHeld();
    else void readHeld().catch(() => undefined);
  });
  onPaletteKey(() => setPaletteOpen(true));
  useKeys(() => setHelpOpen(true));
  return (
    <div class="shell">
      <a class="skip-link" href="#content">
        {text.content}
      </a>
      <Sidebar isOpen={isMenuOpen()} onLeave={closeMenu} />
      <Show when={isMenuOpen()}>
        <div class="nav-backdrop" onClick={closeMenu} />
      </Show>
      <div>
        <Topbar
          isMenuOpen={isMenuOpen()}
          onMenu={() => setMenuOpen(!isMenuOpen())}
          onPalette={() => setPaletteOpen(true)}
        />
        <SectionTabs />
        <main class="page" id="content" tabindex="-1">
          <Updated />
          {props.children}
        </main>
      </div>
      <Palette isOpen={isPaletteOpen()} onClose={() => setPaletteOpen(false)} onKeys={() => setHelpOpen(true)} />
      <KeyHelp isOpen={isHelpOpen()} onClose={() => setHelpOpen(false)} />
      <Overlay isOpen={isSessionLost()} title={text.yourSessionHasEnded} mayClose={false} onClose={() => {}}>
        <p class="muted">{text.logAgainWhatYou}</p>
        <LoginForm />
      </Overlay>
      <Toasts />
    </div>
  );
}
