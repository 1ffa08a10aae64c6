// The console: who is logged in decides what is shown, the address decides which page. Pages are loaded when they are
// first opened.
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/components.css';
import './styles/data.css';
import './styles/governance.css';
import './styles/engine.css';
import { Route, Router, useLocation } from '@solidjs/router';
import { createSignal, ErrorBoundary, lazy, Match, onMount, Show, Switch, type JSX, type ParentProps } from 'solid-js';
import { render } from 'solid-js/web';
import { Button, Loading, Notice } from './kit/basics.js';
import { account, readAccount } from './client/session.js';
import { showNoticesBy } from './client/http.js';
import { watchForUpdates } from './client/update.js';
import { tell } from './kit/overlays.js';
import { Failed, Updated } from './shell/failed.js';
import { Layout } from './shell/layout.js';
import { LoginPage } from './shell/login.js';
import { startTheme } from './shell/theme.js';
import { shellText as words } from './texts/shell.js';

/** A page of its own file, loaded when it is first opened. */
const page = (load: () => Promise<() => JSX.Element>): (() => JSX.Element) =>
  lazy(async () => ({ default: await load() }));

const Duty = page(() => import('./pages/account/duty.js').then((m) => m.Duty));
const Account = page(() => import('./pages/account/account.js').then((m) => m.Account));
const Demo = page(() => import('./pages/demo/demo.js').then((m) => m.Demo));
const SharedEvent = page(() => import('./pages/shared/shared.js').then((m) => m.SharedEvent));
const Overview = page(() => import('./pages/overview/overview.js').then((m) => m.Overview));
const Events = page(() => import('./pages/events/events.js').then((m) => m.Events));
const Requests = page(() => import('./pages/events/requests.js').then((m) => m.Requests));
const RuleSet = page(() => import('./pages/waf/rule-set.js').then((m) => m.RuleSet));
const Rules = page(() => import('./pages/rules/rules.js').then((m) => m.Rules));
const RuleEditor = page(() => import('./pages/rules/rule-editor.js').then((m) => m.RuleEditor));
const Patches = page(() => import('./pages/waf/patches.js').then((m) => m.Patches));
const Tuning = page(() => import('./pages/waf/tuning.js').then((m) => m.Tuning));
const Addresses = page(() => import('./pages/protection/addresses.js').then((m) => m.Addresses));
const Sites = page(() => import('./pages/sites/sites.js').then((m) => m.Sites));
const LimitsPage = page(() => import('./pages/limits/limits.js').then((m) => m.LimitsPage));
const ConnectorsPage = page(() => import('./pages/connectors/connectors.js').then((m) => m.ConnectorsPage));
const SiteAuth = page(() => import('./pages/site-auth/site-auth.js').then((m) => m.SiteAuth));
const BotsPage = page(() => import('./pages/protection/bots-page.js').then((m) => m.BotsPage));
const Gates = page(() => import('./pages/protection/gates.js').then((m) => m.Gates));
const Settings = page(() => import('./pages/settings/settings.js').then((m) => m.Settings));
const Changes = page(() => import('./pages/changes/changes.js').then((m) => m.Changes));
const Certificates = page(() => import('./pages/certificates/certificates.js').then((m) => m.Certificates));
const Nodes = page(() => import('./pages/admin/nodes.js').then((m) => m.Nodes));
const Audit = page(() => import('./pages/admin/audit.js').then((m) => m.Audit));
const Access = page(() => import('./pages/admin/access/access.js').then((m) => m.Access));
const Tokens = page(() => import('./pages/admin/tokens.js').then((m) => m.Tokens));
const Findings = page(() => import('./pages/vulnerabilities/findings.js').then((m) => m.Findings));
const Applications = page(() => import('./pages/vulnerabilities/applications.js').then((m) => m.Applications));
const Targets = page(() => import('./pages/targets/targets.js').then((m) => m.Targets));
const Assessments = page(() => import('./pages/assessments/assessments.js').then((m) => m.Assessments));
const Policies = page(() => import('./pages/policies/policies.js').then((m) => m.Policies));
const Integrations = page(() => import('./pages/integrations/integrations.js').then((m) => m.Integrations));
const TriageRules = page(() => import('./pages/triage/triage.js').then((m) => m.TriageRules));
const Scans = page(() => import('./pages/scans/scans.js').then((m) => m.Scans));
const Components = page(() => import('./pages/components/components.js').then((m) => m.Components));
const Imports = page(() => import('./pages/vulnerabilities/imports.js').then((m) => m.Imports));
const Chains = page(() => import('./pages/vulnerabilities/chains.js').then((m) => m.Chains));
const ChainPage = page(() => import('./pages/vulnerabilities/chain/chain-page.js').then((m) => m.ChainPage));
const Reports = page(() => import('./pages/vulnerabilities/reports.js').then((m) => m.Reports));
const Exploits = page(() => import('./pages/exploits/exploits.js').then((m) => m.Exploits));
const PipelineGates = page(() => import('./pages/gates/gates.js').then((m) => m.PipelineGates));
const Acceptances = page(() => import('./pages/governance/acceptances.js').then((m) => m.Acceptances));
const FindingPatches = page(() => import('./pages/vpatches/patches.js').then((m) => m.FindingPatches));
const Alerts = page(() => import('./pages/alerts/alerts.js').then((m) => m.Alerts));
const ApiInventory = page(() => import('./pages/apis/inventory.js').then((m) => m.ApiInventory));
const Specifications = page(() => import('./pages/specs/specifications.js').then((m) => m.Specifications));
const ApiGaps = page(() => import('./pages/specs/gaps.js').then((m) => m.Gaps));
const ApiThreats = page(() => import('./pages/threats/threats.js').then((m) => m.Threats));
const Engine = page(() => import('./pages/engine/engine.js').then((m) => m.Engine));
const Simulation = page(() => import('./pages/simulation/simulation.js').then((m) => m.Simulation));
const Notifications = page(() => import('./pages/notifications/notifications.js').then((m) => m.Notifications));
const Compliance = page(() => import('./pages/compliance/compliance.js').then((m) => m.Compliance));
const Posture = page(() => import('./pages/posture/posture.js').then((m) => m.Posture));
const Deadlines = page(() => import('./pages/governance/deadlines.js').then((m) => m.Deadlines));
const Backups = page(() => import('./pages/admin/backups.js').then((m) => m.Backups));
const Licence = page(() => import('./pages/admin/licence.js').then((m) => m.Licence));

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

function NotFound(): JSX.Element {
  return <Notice tone="neutral" title={words.thereNoSuchPage} />;
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
      <Route path="/" component={Overview} />
      <Route path="/soc" component={Events} />
      <Route path="/requests" component={Requests} />
      <Route path="/waf" component={RuleSet} />
      <Route path="/waf/rules" component={Rules} />
      <Route path="/waf/rules/:id" component={RuleEditor} />
      <Route path="/waf/patches" component={Patches} />
      <Route path="/waf/tuning" component={Tuning} />
      <Route path="/protection/addresses" component={Addresses} />
      <Route path="/sites" component={Sites} />
      <Route path="/protection/limits" component={LimitsPage} />
      <Route path="/protection/bots" component={BotsPage} />
      <Route path="/protection/authentication" component={SiteAuth} />
      <Route path="/protection/gates" component={Gates} />
      <Route path="/connectors" component={ConnectorsPage} />
      <Route path="/alerts" component={Alerts} />
      <Route path="/inventory" component={ApiInventory} />
      <Route path="/inventory/gaps" component={ApiGaps} />
      <Route path="/inventory/threats" component={ApiThreats} />
      <Route path="/inventory/specifications" component={Specifications} />
      <Route path="/engine" component={Engine} />
      <Route path="/engine/simulation" component={Simulation} />
      <Route path="/vulnerabilities" component={Findings} />
      <Route path="/vulnerabilities/posture" component={Posture} />
      <Route path="/vulnerabilities/applications" component={Applications} />
      <Route path="/vulnerabilities/targets" component={Targets} />
      <Route path="/vulnerabilities/assessments" component={Assessments} />
      <Route path="/vulnerabilities/components" component={Components} />
      <Route path="/vulnerabilities/scans" component={Scans} />
      <Route path="/vulnerabilities/imports" component={Imports} />
      <Route path="/vulnerabilities/chains" component={Chains} />
      <Route path="/vulnerabilities/chains/:id" component={ChainPage} />
      <Route path="/vulnerabilities/reports" component={Reports} />
      <Route path="/vulnerabilities/exploits" component={Exploits} />
      <Route path="/vulnerabilities/patches" component={FindingPatches} />
      <Route path="/vulnerabilities/gates" component={PipelineGates} />
      <Route path="/vulnerabilities/policies" component={Policies} />
      <Route path="/vulnerabilities/rules" component={TriageRules} />
      <Route path="/vulnerabilities/integrations" component={Integrations} />
      <Route path="/vulnerabilities/acceptances" component={Acceptances} />
      <Route path="/vulnerabilities/deadlines" component={Deadlines} />
      <Route path="/vulnerabilities/notifications" component={Notifications} />
      <Route path="/compliance" component={Compliance} />
      <Route path="/admin/settings" component={Settings} />
      <Route path="/admin/settings/:group" component={Settings} />
      <Route path="/admin/changes" component={Changes} />
      <Route path="/admin/nodes" component={Nodes} />
      <Route path="/admin/certificates" component={Certificates} />
      <Route path="/admin/audit" component={Audit} />
      <Route path="/admin/users" component={Access} />
      <Route path="/admin/tokens" component={Tokens} />
      <Route path="/admin/backups" component={Backups} />
      <Route path="/admin/licence" component={Licence} />
      <Route path="/account" component={Account} />
      <Route path="/demo" component={Demo} />
      <Route path="/shared" component={SharedEvent} />
      <Route path="*" component={NotFound} />
    </Router>
  ),
  place,
);
