// The console: who is logged in decides what is shown, the address decides which page. Pages are loaded when they are
// first opened.
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/components.css';
import './styles/data.css';
import './styles/governance.css';
import './styles/engine.css';
import { A, Route, Router, useLocation } from '@solidjs/router';
import { createSignal, ErrorBoundary, lazy, Match, onMount, Show, Switch } from 'solid-js';
import type { Component, JSX, ParentProps } from 'solid-js';
import { render } from 'solid-js/web';
import { Button, Loading, Notice, PageHead } from './kit/basics.js';
import { account, readAccount } from './client/session.js';
import { showNoticesBy } from './client/http.js';
import { watchForUpdates } from './client/update.js';
import { tell } from './kit/overlays.js';
import { Failed, Updated } from './shell/failed.js';
import { Layout } from './shell/layout.js';
import { LoginPage } from './shell/login.js';
import { allPages } from './shell/nav/navigation.js';
import { mayOpen, type PageEntry } from './shell/nav/page-entry.js';
import { startTheme } from './shell/theme.js';
import { shellText as words } from './texts/shell.js';

/** A page of its own file, loaded when it is first opened. */
const page = (load: () => Promise<() => JSX.Element>): (() => JSX.Element) =>
  lazy(async () => ({ default: await load() }));

const Duty = page(() => import('./pages/account/duty.js').then((m) => m.Duty));
const Account = page(() => import('./pages/account/account.js').then((m) => m.Account));
const Demo = page(() => import('./pages/demo/demo.js').then((m) => m.Demo));
const SharedEvent = page(() => import('./pages/shared/shared.js').then((m) => m.SharedEvent));

/** Pages that need no login, and ask nothing about who sees them. */
const publicPaths: readonly string[] = ['/demo', '/shared'];

function Frame(props: ParentProps): JSX.Element {
  const location = useLocation();
  return (
    <ErrorBoundary
      fallback={(error: unknown, again) => (
        <main class="login">
          <Updated />
          <Failed error={error} again={again} />
        </main>
      )}
    >
      <Show when={!publicPaths.includes(location.pathname)} fallback={props.children}>
        <Known>{props.children}</Known>
      </Show>
    </ErrorBoundary>
  );
}

/** Whoever is logged in, or the login. */
function Known(props: ParentProps): JSX.Element {
  const [problem, setProblem] = createSignal<string | null>(null);
  const begin = (): void =>
    void readAccount().then(
      () => setProblem(null),
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    );
  onMount(begin);
  return (
    <Switch fallback={<LoginPage />}>
      <Match when={problem()}>
        {(text) => (
          <main class="login">
            <Notice tone="danger" title={words.consoleCannotStart}>
              <span>{text()}</span>
              <div>
                <Button onClick={begin}>{words.tryAgain}</Button>
              </div>
            </Notice>
          </main>
        )}
      </Match>
      <Match when={account() === undefined}>
        <main class="login">
          <Loading />
        </main>
      </Match>
      <Match when={account()}>
        {(who) => (
          <Show when={who().duty === null} fallback={<Duty />}>
            <Layout>
              <ErrorBoundary fallback={(error: unknown, again) => <Failed error={error} again={again} />}>
                {props.children}
              </ErrorBoundary>
            </Layout>
          </Show>
        )}
      </Match>
    </Switch>
  );
}

/** Of every page and of the single things that belong to it. */
const allRoutes = allPages.flatMap((one) =>
  [[one.path, one.view] as const, ...Object.entries(one.details)].map(
    ([path, view]) => [path, ofThose(one, view)] as const,
  ),
);

/** What the server would refuse says so in its place, with none of its controls: also for who comes by its address. */
function ofThose(entry: PageEntry, View: Component): Component {
  return () => (
    <Show
      when={mayOpen(entry)}
      fallback={
        <>
          <PageHead title={entry.title} />
          <Notice tone="neutral">
            {words.notForYou} <A href="/">{words.toOverview}</A>
          </Notice>
        </>
      }
    >
      <View />
    </Show>
  );
}

function NotFound(): JSX.Element {
  return (
    <Notice tone="neutral" title={words.thereNoSuchPage}>
      <p>
        {words.noSuchPageAbout} <A href="/">{words.toOverview}</A>
      </p>
    </Notice>
  );
}

startTheme();
watchForUpdates();
showNoticesBy((text) => tell(text, true)); // stays until it is closed
// Most come to the overview: it is fetched while the control plane says who is logged in, not after. That it could not
// be had is told where it is shown.
if (location.pathname === '/') void import('./pages/overview/overview.js').catch(() => undefined);
const place = document.getElementById('app');
if (place === null) throw new Error('index.html has no #app');
render(
  () => (
    <Router root={Frame}>
      {allRoutes.map(([path, view]) => (
        <Route path={path} component={view} />
      ))}
      <Route path="/account" component={Account} />
      <Route path="/demo" component={Demo} />
      <Route path="/shared" component={SharedEvent} />
      <Route path="*" component={NotFound} />
    </Router>
  ),
  place,
);
