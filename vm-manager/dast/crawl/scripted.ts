// Which pages are opened in the browser: those with scripts, a few of each shape and of each outline. Pages whose
// documents are the same to the letter are one shell, whose script shows something else at each address.
import type { Eyes, Seen } from '../browser/eyes.js';
import { templateOf } from '../http/forms.js';
import type { Exchange } from '../model.js';

const limits = { pages: 80, ofOneShape: 2, alike: 3, waiting: 2000 } as const;

interface Waiting {
  /** With what stands after the hash, where that is a route. */
  readonly url: string;
  readonly depth: number;
  readonly body: string | null;
  readonly outline: string;
}

export interface Opened {
  readonly url: string;
  readonly depth: number;
  readonly seen: Seen;
}

const isRoute = (hash: string): boolean => /^#!?\/[^\s]{0,200}$/.test(hash);
const hashLinks = /href=["']?(#!?\/[\w\-./?=&%;:]{0,200})/g;

export class Scripted {
  readonly #eyes: Eyes | null;
  readonly #waiting: Waiting[] = [];
  readonly #known = new Set<string>();
  readonly #shapes = new Map<string, number>();
  readonly #outlines = new Map<string, number>();
  /** Of pages that were met: the same document at several addresses is a shell. */
  readonly #bodies = new Map<string, number>();
  #failed = 0;

  constructor(eyes: Eyes | null) {
    this.#eyes = eyes;
  }

  get unopened(): { readonly pages: number; readonly why: string } {
    const own = this.#waiting.length > 0 ? `A scan opens ${limits.pages} of them.` : 'They did not open in time.';
    const why = this.#eyes?.whyNot ?? (this.#eyes === null ? 'No browser was used.' : own);
    return { pages: this.#waiting.length + this.#failed, why };
  }

  wait(url: string, depth: number, body: string, outline: string): void {
    this.#bodies.set(body, (this.#bodies.get(body) ?? 0) + 1);
    this.#push({ url, depth, body, outline });
  }

  #push(one: Waiting): void {
    if (this.#known.has(one.url) || this.#waiting.length >= limits.waiting) return;
    this.#known.add(one.url);
    this.#waiting.push(one);
  }

  /** The next page as the browser shows it; null: there is none left, or no browser that could open it. */
  async next(get: (url: string) => Promise<Exchange | null>): Promise<Opened | null> {
    const eyes = this.#eyes;
    if (eyes === null) return null;
    while (this.#waiting.length > 0 && eyes.whyNot === null && eyes.pages < limits.pages) {
      const one = this.#waiting.shift() as Waiting;
      if (!this.#isNew(one)) continue;
      const page = await get(one.url.split('#', 1)[0] ?? one.url);
      if (page === null || page.status >= 400) continue;
      const seen = await eyes.look(one.url, page);
      if (seen === null) {
        this.#failed++;
        continue;
      }
      this.#takeRoutes(one, seen);
      return { url: one.url, depth: one.depth, seen };
    }
    return null;
  }

  #isNew({ url, body, outline }: Waiting): boolean {
    const { pathname, search, hash } = new URL(url);
    const names = [...new URLSearchParams(search).keys()].sort().join('&');
    const [path = '', query = ''] = hash.split('?', 2);
    const inHash = [...new URLSearchParams(query).keys()].sort().join('&');
    const shape = `${templateOf(pathname)}?${names}${templateOf(path)}?${inHash}`;
    const count = this.#shapes.get(shape) ?? 0;
    this.#shapes.set(shape, count + 1);
    if (count >= limits.ofOneShape) return false;
    const isShell = body === null || (this.#bodies.get(body) ?? 0) > 1;
    const alike = this.#outlines.get(outline) ?? 0;
    this.#outlines.set(outline, alike + 1);
    return isShell || alike < limits.alike;
  }

  /** Routes after the hash, which no other part of the crawl sees. */
  #takeRoutes({ url, depth, outline }: Waiting, { routes, links, documents }: Seen): void {
    const { origin } = new URL(url);
    const inDocuments = documents.flatMap((html) =>
      [...html.slice(0, 1_000_000).matchAll(hashLinks)].slice(0, 300).map(([, hash = '']) => new URL(hash, url).href),
    );
    for (const route of [...routes, ...links, ...inDocuments]) {
      if (!URL.canParse(route) || new URL(route).origin !== origin) continue;
      if (isRoute(new URL(route).hash)) this.#push({ url: route, depth: depth + 1, body: null, outline });
    }
  }
}
