// What a browser sees of a target. It is started when the first page needs it; pages are opened one at a time, each in
// a tab of its own, for a bounded time. Where there is none, or it ends, the scan goes on and says so.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isHarmful } from '../http/bounds.js';
import { attributeOf, elementsOf } from '../crawl/html.js';
import type { Talk } from '../http/talk.js';
import type { Exchange } from '../model.js';
import { BrowserGone, Cdp, hasEnded, type CdpEvent, type Fields } from './cdp.js';
import { Gate, type Met, type Sent } from './gate.js';
import { candidates, collect, hooks, setOff, use } from './in-page.js';
import { startChromium, type ChromiumProcess } from './process.js';
import { Tab } from './tab.js';

export const eyesLimits = {
  /** Of one page: loaded, and used. */
  pageMs: 20_000,
  /** Of a whole scan. */
  secondsMax: 600,
  usesOfPage: 40,
  /** Things that look alike are used so often in a page. */
  alike: 2,
  reloads: 12,
} as const;

/** So long is waited for why a browser that does not start has ended. */
const lastWordsMs = 1000;

export interface Seen {
  /** Documents of the page: as it was loaded, and as it became. */
  readonly documents: readonly string[];
  /** Where scripts led, with what stands after the hash. */
  readonly routes: readonly string[];
  readonly links: readonly string[];
  readonly sent: readonly Sent[];
  readonly leftOut: ReadonlyMap<string, string>;
}

interface Candidate {
  readonly at: number;
  readonly kind: 'click' | 'form' | 'select';
  readonly tag: string;
  readonly words: string;
  readonly sign: string;
}

export interface EyesParts {
  /** Its path; null: there is none, and `why` says so in a sentence. */
  readonly program: string | null;
  readonly why: string;
  readonly talk: Talk;
  readonly origin: string;
  readonly requestsMax: number;
  readonly withWrites: boolean;
}

const wordsOf = (text: string): string => text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[-_/.:]+/g, ' ');
const harmfulIcons = new RegExp(
  '\\b(?:trash|bin|power off|close account|cancel account|empty (?:cart|basket)|clear all|unlink|leave(?! a)|' +
    'exit|quit|reset|disable)\\b',
  'i',
);

/** By all that it says of itself: its text, its attributes, the form that it sends. */
export const isHarmfulUse = (words: string): boolean =>
  isHarmful(words, words) || isHarmful('', wordsOf(words)) || harmfulIcons.test(wordsOf(words));

export class Eyes {
  readonly gate: Gate;
  /** Pages that were opened. */
  pages = 0;
  readonly #parts: EyesParts;
  readonly #name = `gh${randomBytes(6).toString('hex')}`;
  readonly #tabs = new Map<string, Tab>();
  #why: string | null;
  #process: ChromiumProcess | null = null;
  #cdp: Cdp | null = null;
  #context = '';
  #spentMs = 0;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #onAbort = (): void => void this.close();

  constructor(parts: EyesParts) {
    this.#parts = parts;
    this.gate = new Gate(parts.talk, parts.requestsMax, parts.withWrites);
    this.#why = parts.program === null ? parts.why : null;
  }

  /** Why no page can be opened any more, as a sentence; null: it can. */
  get whyNot(): string | null {
    if (this.#why !== null) return this.#why;
    if (this.#spentMs > eyesLimits.secondsMax * 1000) return `The browser had its ${eyesLimits.secondsMax} seconds.`;
    return this.gate.isUsedUp ? 'The browser had its share of the requests.' : null;
  }

  /** Where the browser writes; empty while there is none. */
  get home(): string {
    return this.#process?.home ?? '';
  }

  /** null: it could not be opened, `whyNot` says why where that is so for all pages. Throws ScanOver. */
  async look(url: string, page: Exchange): Promise<Seen | null> {
    return this.#inTab(page, async (tab, met) => {
      const documents: string[] = [];
      const routes = new Set<string>();
      const read = async (): Promise<string> => {
        const seen = (await tab.evaluate(collect(this.#name))) as { html: string; url: string; routes: string[] };
        if (documents.at(-1) !== seen.html && documents.length < 60) documents.push(seen.html);
        for (const route of seen.routes) if (routes.size < 300) routes.add(route);
        return seen.url;
      };
      await tab.load(url);
      const home = await read();
      await this.#useAll(tab, url, home, read);
      return { documents, routes: [...routes], links: [...met.links], sent: met.sent, leftOut: met.leftOut };
    });
  }

  async #useAll(tab: Tab, url: string, home: string, read: () => Promise<string>): Promise<void> {
    const used = new Map<string, number>();
    let reloads = 0;
    for (let count = 0; count < eyesLimits.usesOfPage && tab.hasTime; count++) {
      const all = (await tab.evaluate(candidates(this.#name))) as Candidate[];
      const next = all.find(({ sign, words, kind }) => {
        const known = `${kind} ${sign.replaceAll(/\d+/g, '0')}`;
        return (used.get(known) ?? 0) < (used.has(`${kind} ${sign}`) ? 0 : eyesLimits.alike) && !isHarmfulUse(words);
      });
      if (next === undefined) return;
      const known = `${next.kind} ${next.sign.replaceAll(/\d+/g, '0')}`;
      used.set(known, (used.get(known) ?? 0) + 1);
      used.set(`${next.kind} ${next.sign}`, eyesLimits.alike);
      await tab.evaluate(use(this.#name, next.at));
      await tab.settle();
      const now = await read();
      if (now === home) continue;
      // another view: it gets a turn of its own, and this one goes on where it was
      if (++reloads > eyesLimits.reloads) return;
      await tab.load(url);
      await read();
    }
  }

  /**
   * Whether a browser runs the function of this name where it is given this answer: by itself, or when what names it is
   * used. The answer's Content-Security-Policy holds. null: no page could be opened.
   */
  async runs(page: Exchange, name: string): Promise<boolean | null> {
    return this.#inTab(page, async (tab) => {
      await tab.listenFor(name);
      await tab.load(page.request.url);
      await tab.evaluate(setOff(name));
      await tab.settle();
      return tab.wasCalled;
    });
  }

  /** Whether the page makes an element of this name, or calls a function of it. null: it could not be opened. */
  async makes(url: string, page: Exchange, name: string): Promise<'element' | 'call' | 'nothing' | null> {
    return this.#inTab(page, async (tab) => {
      await tab.listenFor(name);
      await tab.load(url);
      const isThere = await tab.evaluate(`document.querySelector(${JSON.stringify(name)}) !== null`);
      await tab.evaluate(setOff(name));
      await tab.settle();
      return tab.wasCalled ? 'call' : isThere === true ? 'element' : 'nothing';
    });
  }

  /** Texts of the scripts of their own files that the page loads, of those that were asked for its sake. */
  scriptsOf(page: Exchange): string[] {
    const addresses = elementsOf(page.body)
      .filter(({ tagName }) => tagName === 'script')
      .flatMap((one) => {
        const source = attributeOf(one, 'src');
        return source !== null && URL.canParse(source, page.request.url)
          ? [new URL(source, page.request.url).href]
          : [];
      });
    return addresses.flatMap((url) => this.gate.cached(url)?.body ?? []);
  }

  /** Ends the browser at once. */
  async close(): Promise<void> {
    this.#why ??= 'The browser was closed.';
    this.#parts.talk.client.signal.removeEventListener('abort', this.#onAbort);
    const running = this.#process;
    this.#process = null;
    this.#cdp?.end(this.#why);
    await running?.kill();
  }

  /** One after another. Throws ScanOver; other mistakes of a page are none of the scan. */
  async #inTab<T>(page: Exchange, work: (tab: Tab, met: Met) => Promise<T>): Promise<T | null> {
    const mine = this.#turn.then(async () => {
      if (this.whyNot !== null) return null;
      const began = performance.now();
      const met: Met = { links: new Set(), sent: [], leftOut: new Map() };
      let tab: Tab | null = null;
      try {
        tab = await this.#open(page, met);
        this.pages++;
        return await work(tab, met);
      } catch (error) {
        if (tab?.over != null) throw tab.over;
        if (error instanceof BrowserGone) return null;
        throw error;
      } finally {
        this.#spentMs += performance.now() - began;
        if (tab !== null) {
          this.#tabs.delete(tab.session);
          await tab.close().catch(() => undefined);
        }
      }
    });
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #open(page: Exchange, met: Met): Promise<Tab> {
    const cdp = this.#cdp ?? (await this.#start());
    const { talk, origin } = this.#parts;
    const { targetId } = (await cdp.send('Target.createTarget', {
      url: 'about:blank',
      browserContextId: this.#context,
    })) as { targetId: string };
    const { sessionId } = (await cdp.send('Target.attachToTarget', { targetId, flatten: true })) as {
      sessionId: string;
    };
    const tab = new Tab({ cdp, targetId, session: sessionId, gate: this.gate, page, met, msMax: eyesLimits.pageMs });
    this.#tabs.set(sessionId, tab);
    const { cookie = '' } = talk.session.headers();
    const cookies = cookie.split('; ').flatMap((pair): Fields[] => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [{ name: pair.slice(0, at), value: pair.slice(at + 1), url: origin }];
    });
    await tab.prepare(hooks(this.#name), cookies);
    return tab;
  }

  async #start(): Promise<Cdp> {
    const { program, talk } = this.#parts;
    const { signal } = talk.client;
    if (signal.aborted || program === null) throw new BrowserGone('The scan was stopped.');
    const onEnd = (why: string): void => {
      // its pipes are closed before the process says why
      if (this.#why === null || this.#why === hasEnded) this.#why = why;
      this.#cdp?.end(why);
    };
    try {
      this.#process = await startChromium(program, onEnd);
      signal.addEventListener('abort', this.#onAbort, { once: true });
      const { to, from } = this.#process;
      const cdp = new Cdp(to, from, (event) => this.#onEvent(event), onEnd);
      this.#cdp = cdp;
      const made = await cdp.send('Target.createBrowserContext', { disposeOnDetach: true });
      this.#context = String(made['browserContextId']);
      await cdp.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId: this.#context });
      await cdp.send('Target.setDiscoverTargets', { discover: true });
      return cdp;
    } catch (error) {
      if (this.#process !== null)
        await Promise.race([this.#process.ended, pause(lastWordsMs, undefined, { ref: false })]);
      this.#why ??= `The browser does not start: ${error instanceof Error ? error.message : String(error)}.`;
      await this.close();
      throw new BrowserGone(this.#why);
    }
  }

  #onEvent({ method, params, sessionId }: CdpEvent): void {
    if (method === 'Target.targetCreated') {
      // windows that a page opens are closed: nothing of them is needed, and their requests would lead nowhere
      const { type, openerId, targetId } = params['targetInfo'] as {
        type: string;
        openerId?: string;
        targetId: string;
      };
      if (type === 'page' && openerId !== undefined)
        void this.#cdp?.send('Target.closeTarget', { targetId }).catch(() => undefined);
    } else if (sessionId !== undefined) this.#tabs.get(sessionId)?.take(method, params);
  }
}
