// One scan from its first request to its last: log in, crawl, look, try each check on each form, then each finding
// again through the firewall. What it covered is kept while it runs, so that a scan that is cut short says so.
import type { SeenEndpoint, WayOut } from '../../host.js';
import { checksOf, findCheck, sameWeakness } from '../checks/index.js';
import { Eyes } from '../browser/eyes.js';
import { likeness, Probe, word, type Callbacks, type Check } from '../checks/check.js';
import { passiveChecks } from '../checks/passive.js';
import { Crawler, type Crawled } from '../crawl/crawl.js';
import type { Bounds } from '../http/bounds.js';
import { formOfLink, toForm } from '../http/forms.js';
import type { Budget, Rate } from '../http/pace.js';
import { isBusy, PoliteClient } from '../http/polite-client.js';
import { Session, type SessionRecipe } from '../http/session.js';
import { Talk } from '../http/talk.js';
import { ScanOver, type Exchange, type Form, type Found, type Param, type Profile, type Proof } from '../model.js';
import { allEnded } from './all-ended.js';
import { Coverage } from './coverage.js';

export interface ScanPlan {
  readonly runId: string;
  readonly base: string;
  readonly bounds: Bounds;
  readonly profile: Profile;
  /** Of these checks alone; absent: of all of the profile. */
  readonly only?: ReadonlySet<string>;
  readonly recipe: SessionRecipe | null;
  readonly seen: readonly SeenEndpoint[];
  readonly callbacks: Callbacks | null;
  readonly way: WayOut;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Of the target, and of the run: the way behind the firewall has the same ones. */
  readonly rate: Rate;
  readonly budget: Budget;
  /** Pages with scripts are opened in it; absent: in none. */
  readonly browser?: BrowserChoice;
}

/** The path of the browser; null: there is none, or none is wanted, as `why` says in a sentence. */
export interface BrowserChoice {
  readonly program: string | null;
  readonly why: string;
}

export interface ScanOutcome {
  readonly found: readonly Found[];
  /** Why it ended early; null: it came to its end. */
  readonly over: ScanOver | null;
}

const eyesFor = ({ browser, base, bounds, profile }: ScanPlan, talk: Talk): Eyes =>
  new Eyes({
    ...(browser ?? { program: null, why: 'No browser was asked for.' }),
    talk,
    origin: new URL(base).origin,
    requestsMax: bounds.requestsMax,
    withWrites: profile !== 'quick',
  });

/** Forms that are tried at the same time; the rate holds for all of them together. */
const workers = 4;

export class Scanner {
  readonly coverage = new Coverage();
  readonly found: Found[] = [];
  readonly client: PoliteClient;
  readonly #plan: ScanPlan;
  readonly #talk: Talk;
  readonly #eyes: Eyes;
  readonly #onFound: (found: Found) => void;

  constructor(plan: ScanPlan, onFound: (found: Found) => void = () => undefined) {
    this.#plan = plan;
    this.#onFound = onFound;
    this.client = new PoliteClient(plan);
    this.#talk = new Talk(this.client, new Session(plan.recipe));
    this.#eyes = eyesFor(plan, this.#talk);
    this.coverage.client = this.client;
    this.coverage.eyes = this.#eyes;
  }

  async scan(): Promise<ScanOutcome> {
    try {
      this.coverage.phase = 'login';
      await this.#talk.session.logIn(this.client);
      this.coverage.phase = 'crawl';
      const crawled = await new Crawler(this.#talk, this.#plan.base, this.#eyes).crawl(
        this.#plan.seen,
        (pages, waiting) => this.coverage.tellCrawl(pages, waiting),
      );
      this.coverage.crawled(crawled);
      this.#look(crawled);
      requirePage(crawled);
      this.coverage.phase = 'checks';
      await this.#tryAll(crawled);
      await this.#requireSession();
      this.coverage.phase = 'done';
      return { found: this.found, over: null };
    } catch (error) {
      if (error instanceof ScanOver) return { found: this.found, over: error };
      throw error;
    } finally {
      await this.#eyes.close();
    }
  }

  /** A session that ended without a word: what was looked at since then is not known. */
  async #requireSession(): Promise<void> {
    if (await this.#talk.session.holds(this.client)) return;
    throw new ScanOver(
      'unreachable',
      'The login did not hold until the end, so that pages behind it may have been missed. Begin again.',
    );
  }

  #keep(found: Found): void {
    this.found.push(found);
    this.coverage.findings++;
    this.#onFound(found);
  }

  #runs(id: string): boolean {
    return this.#plan.only?.has(id) ?? true;
  }

  #look({ pages }: Crawled): void {
    const reported = new Set<string>();
    for (const check of passiveChecks.filter(({ id }) => this.#runs(id))) {
      for (const [url, exchange] of pages) {
        const form = formOfLink(url, null);
        if (isRefused(exchange, form)) continue;
        const shown = check.look(exchange);
        this.coverage.cover(check.id, check.of === 'site' ? this.#site() : form);
        if (shown === null) continue;
        const at = check.of === 'site' ? this.#site() : toForm({ ...form, params: [] });
        const name = `${check.id} ${at.key} ${shown.param ?? ''}`;
        if (reported.has(name)) continue;
        reported.add(name);
        const proof = { attack: '', exchange, neutral: null, why: shown.why };
        this.#keep({ check, form: at, param: shown.param ?? null, proof });
      }
    }
  }

  #site(): Form {
    return toForm({ method: 'GET', url: `${new URL(this.#plan.base).origin}/` });
  }

  async #tryAll({ forms, pages, files }: Crawled): Promise<void> {
    const seenPaths = [...pages].filter(([, { status }]) => status < 300).map(([url]) => url);
    seenPaths.push(...files);
    const all = checksOf(this.#plan.profile).filter(({ id }) => this.#runs(id));
    const jobs: (() => Promise<void>)[] = [this.#site(), ...forms].map((form, at) => async () => {
      await this.#tryForm(
        form,
        at === 0 ? all.filter(({ on }) => on === 'site') : all.filter(({ on }) => on !== 'site'),
        seenPaths,
      );
      this.coverage.formsDone++;
    });
    this.coverage.formsTotal = jobs.length;
    let next = 0;
    const work = async (): Promise<void> => {
      for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) await job();
    };
    await allEnded(Array.from({ length: workers }, work));
  }

  async #tryForm(form: Form, checks: readonly Check[], seenPaths: readonly string[]): Promise<void> {
    const base = await this.#talk.baseline(form);
    if (base === null || isBusy(base.status)) {
      for (const { id } of checks) this.coverage.miss(id, form);
      return;
    }
    const isGone = base.status === 405 || (base.status === 404 && !(await this.#isOwnAnswer(form, base)));
    for (const check of checks.filter(({ on }) => on !== 'param')) await this.#try(check, form, null, seenPaths);
    const proven = new Map<string, Set<string>>();
    for (const param of isGone && form.params.every(({ place }) => place !== 'path') ? [] : form.params) {
      if (param.isToken === true || param.isFixed === true) continue;
      for (const check of checks.filter(({ on }) => on === 'param')) {
        const before = proven.get(param.name) ?? new Set<string>();
        proven.set(param.name, before);
        const isKnown = sameWeakness[check.id]?.some((id) => before.has(id)) === true;
        // what is refused is tried all the same; that nothing shows there closes nothing
        if (isKnown || isRefused(base, form)) this.coverage.miss(check.id, form);
        if (!isKnown && (await this.#try(check, form, param, seenPaths))) before.add(check.id);
      }
    }
  }

  /** Whether "not found" is said of its value: a place beside it, that cannot be, says something else. */
  async #isOwnAnswer(form: Form, base: Exchange): Promise<boolean> {
    if (form.params.length === 0) return false;
    const nowhere = await this.#talk.get(`${form.url.replaceAll(/\{[^}]*\}/g, '1')}${word(8)}`);
    return nowhere !== null && likeness(nowhere, []) !== likeness(base, []);
  }

  async #try(check: Check, form: Form, param: Param | null, seenPaths: readonly string[]): Promise<boolean> {
    const { base, profile, callbacks } = this.#plan;
    const { origin } = new URL(base);
    const talk = this.#talk.forCheck();
    const probe = new Probe({ talk, form, param, origin, profile, callbacks, seenPaths, eyes: this.#eyes });
    const proof = await check.prove(probe);
    if (talk.unanswered > 0) this.coverage.miss(check.id, form);
    else if (!probe.wasLeftOut) this.coverage.cover(check.id, form);
    if (proof !== null) this.#keep({ check, form, param: param?.name ?? null, proof });
    return proof !== null;
  }
}

/** Throws ScanOver where no page was reached: that nothing is found there says nothing. */
function requirePage({ pages }: Crawled): void {
  const statuses = [...pages.values()].map(({ status }) => status);
  if (statuses.some((status) => status < 300)) return;
  const seen = [...new Set(statuses)].sort((left, right) => left - right).join(', ');
  const answers = seen === '' ? 'nothing answered' : `${statuses.length} addresses answered ${seen}`;
  throw new ScanOver('unreachable', `No page was reached: ${answers}. See its url, scope_paths and login.`);
}

/** The answer is of what stands before the form, not of the form: a refusal, or the way to a login. */
function isRefused({ status, headers }: Exchange, { params }: Form): boolean {
  if (status === 401) return !params.some(({ name }) => /pass|pwd|pin|secret/i.test(name));
  if (status >= 300 && status < 400)
    return /log-?_?in|sign-?_?in|\/(?:auth|sso|oauth2?)\b/i.test(headers['location'] ?? '');
  return status === 403 || status === 407 || isBusy(status);
}

export interface Again {
  readonly checkId: string;
  readonly form: Form;
  readonly param: string | null;
  readonly seenPaths?: readonly string[];
}

export interface Looked {
  readonly proof: Proof | null;
  /** Without a proof: the check was answered to its end, so that there is none. */
  readonly isCertain: boolean;
}

/** Single checks on single forms, with one client for all of them; passive checks look at the page once more. */
export class Prover {
  readonly talk: Talk;
  readonly #plan: ScanPlan;
  readonly #eyes: Eyes;

  constructor(plan: ScanPlan) {
    this.#plan = plan;
    this.talk = new Talk(new PoliteClient(plan), new Session(plan.recipe));
    this.#eyes = eyesFor(plan, this.talk);
  }

  /** Ends its browser, where it has started one. */
  async close(): Promise<void> {
    await this.#eyes.close();
  }

  async logIn(): Promise<void> {
    await this.talk.session.logIn(this.talk.client);
  }

  async prove({ checkId, form, param, seenPaths = [] }: Again): Promise<Looked> {
    const { base, profile, callbacks } = this.#plan;
    const check = findCheck(checkId);
    const own = await this.talk.baseline(form);
    if (own === null || isBusy(own.status)) return { proof: null, isCertain: false };
    if (check === null) {
      const shown = passiveChecks.find(({ id }) => id === checkId)?.look(own) ?? null;
      if (shown === null) return { proof: null, isCertain: !isRefused(own, form) };
      return { proof: { attack: '', exchange: own, neutral: null, why: shown.why }, isCertain: true };
    }
    const named = param === null ? null : (form.params.find(({ name }) => name === param) ?? null);
    const { origin } = new URL(base);
    const talk = this.talk.forCheck();
    const probe = new Probe({ talk, form, param: named, origin, profile, callbacks, seenPaths, eyes: this.#eyes });
    const proof = await check.prove(probe);
    const wasRefused = check.on === 'param' && isRefused(own, form);
    return { proof, isCertain: talk.unanswered === 0 && !probe.wasLeftOut && !wasRefused };
  }
}
