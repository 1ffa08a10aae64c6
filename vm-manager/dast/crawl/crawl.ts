// Which forms a target has: from its pages, robots.txt, its sitemap, its specification, and what the data plane has
// seen. Every list is bounded: of a shape of addresses a few are asked, pages that look alike lead no further.
import type { SeenEndpoint } from '../../host.js';
import { isHarmful } from '../http/bounds.js';
import type { Eyes } from '../browser/eyes.js';
import { formOfSent, isHarmfulOperation } from '../browser/sent.js';
import { addressOf, formOfLink, templateOf, toForm } from '../http/forms.js';
import type { Talk } from '../http/talk.js';
import { allEnded } from '../run/all-ended.js';
import type { Exchange, Form, Param } from '../model.js';
import { pathsInScript, readPage, type HtmlForm } from './html.js';
import { formsOfGraphql, graphqlPaths, introspection } from './graphql.js';
import { formsOfOpenApi } from './openapi.js';
import { Scripted } from './scripted.js';

export const crawlLimits = {
  pages: 2000,
  depth: 12,
  /** Addresses of one shape that are asked. */
  ofOneShape: 3,
  /** Pages with one outline in one directory that lead further. */
  alike: 12,
  segments: 12,
} as const;

export interface LeftOut {
  readonly url: string;
  readonly reason: string;
}

export interface Crawled {
  readonly forms: readonly Form[];
  /** Answers to plain GETs, by address: passive checks read them. */
  readonly pages: ReadonlyMap<string, Exchange>;
  /** Addresses of pictures, fonts and the like, which are not asked for. */
  readonly files: readonly string[];
  readonly leftOut: readonly LeftOut[];
  readonly sources: Readonly<Record<string, number>>;
  /** Pages with scripts that no browser has opened, and why, in a sentence. */
  readonly unopened: { readonly pages: number; readonly why: string };
}

interface Waiting {
  readonly url: string;
  readonly depth: number;
}

const leftOutMax = 500;
const filesMax = 500;
const tokenName = /csrf|xsrf|token|nonce|authenticity/i;
const specPaths = ['/openapi.json', '/swagger.json', '/v3/api-docs', '/api-docs', '/api/openapi.json'];
const staticFile = /\.(?:png|jpe?g|gif|webp|svg|ico|woff2?|ttf|eot|mp4|mp3|pdf|zip|gz|css)$/i;

const sampleOf = (name: string, type: string): string => {
  if (type === 'email' || /mail/i.test(name)) return 'scan@example.com';
  if (type === 'number' || type === 'range' || /(?:^|_)id$|count|qty|amount|page|num/i.test(name)) return '1';
  if (type === 'url' || /^url$/i.test(name)) return 'https://www.example.com/';
  if (type === 'date') return '2026-01-15';
  return type === 'password' ? 'Scan-Passw0rd' : 'scan';
};

export class Crawler {
  readonly #talk: Talk;
  readonly #origin: string;
  readonly #forms = new Map<string, Form>();
  readonly #pages = new Map<string, Exchange>();
  readonly #leftOut = new Map<string, string>();
  readonly #sources: Record<string, number> = {};
  readonly #files = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #shapes = new Map<string, number>();
  readonly #outlines = new Map<string, number>();
  readonly #scripted: Scripted;
  #waiting: Waiting[] = [];

  constructor(talk: Talk, base: string, eyes: Eyes | null = null) {
    this.#talk = talk;
    this.#scripted = new Scripted(eyes);
    this.#origin = new URL(base).origin;
    this.#enqueue({ url: base, depth: 0 }, 'target');
  }

  async crawl(seen: readonly SeenEndpoint[], tell: (pages: number, waiting: number) => void): Promise<Crawled> {
    await this.#robots();
    await this.#specifications();
    await this.#graphql();
    this.#takeSeen(seen);
    do {
      while (this.#waiting.length > 0 && this.#pages.size < crawlLimits.pages) {
        const batch = this.#waiting.splice(0, 4);
        await allEnded(batch.map(async (one) => this.#visit(one)));
        tell(this.#pages.size, this.#waiting.length);
      }
    } while (await this.#openNext());
    return {
      unopened: this.#scripted.unopened,
      forms: [...this.#forms.values()],
      pages: this.#pages,
      files: [...this.#files],
      leftOut: [...this.#leftOut].map(([url, reason]) => ({ url, reason })),
      sources: this.#sources,
    };
  }

  #leave(url: string, reason: string): void {
    if (this.#leftOut.size < leftOutMax) this.#leftOut.set(url.slice(0, 300), reason);
  }

  #enqueue({ url, depth }: Waiting, source: string, words = ''): void {
    if (!URL.canParse(url) || this.#asked.has(url)) return;
    this.#asked.add(url);
    const place = new URL(url);
    const refusal = this.#talk.client.judge(url, 'GET');
    if (refusal !== null) return this.#leave(url, refusal.replaceAll('_', ' '));
    if (isHarmful(place.pathname + place.search, words)) return this.#leave(url, 'would log out or destroy something');
    if (staticFile.test(place.pathname)) {
      if (this.#files.size < filesMax) this.#files.add(url);
      return;
    }
    const segments = place.pathname.split('/').filter((one) => one !== '');
    const isLoop = segments.some((one) => segments.filter((other) => other === one).length > 2);
    if (segments.length > crawlLimits.segments || isLoop) return this.#leave(url, 'the path repeats itself');
    if (depth > crawlLimits.depth) return this.#leave(url, 'too many links away');
    const form = formOfLink(url, null);
    const count = this.#shapes.get(form.key) ?? 0;
    if (count >= crawlLimits.ofOneShape) return this.#leave(url, 'many of the same shape');
    this.#shapes.set(form.key, count + 1);
    this.#sources[source] = (this.#sources[source] ?? 0) + 1;
    this.#waiting.push({ url, depth });
  }

  async #visit({ url, depth }: Waiting): Promise<void> {
    const exchange = await this.#talk.get(url);
    if (exchange === null) return;
    this.#pages.set(url, exchange);
    const { status, headers, body } = exchange;
    if (status !== 404 && status !== 410) this.#add(formOfLink(url, null));
    const { location } = headers;
    if (location !== undefined && URL.canParse(location, url))
      this.#enqueue({ url: new URL(location, url).href, depth: depth + 1 }, 'redirects');
    const type = headers['content-type'] ?? '';
    if (/javascript/i.test(type)) {
      for (const path of pathsInScript(body)) this.#follow(path, url, depth, 'scripts');
      return;
    }
    if (/json/i.test(type)) return this.#json(body, url, depth);
    if (!/html/i.test(type)) return;
    const page = readPage(body, url);
    if (status < 400 && page.runsScripts) this.#scripted.wait(url, depth, body, page.outline);
    if (this.#isAlike(url, page.outline)) return this.#leave(url, 'looks like many others of its directory');
    for (const { url: link, words } of page.links) this.#enqueue({ url: link, depth: depth + 1 }, 'links', words);
    for (const form of page.forms) this.#takeForm(form, url);
  }

  /** Opens a page in the browser, and takes what shows only there; false: there is none left. */
  async #openNext(): Promise<boolean> {
    const next = await this.#scripted.next(async (url) => this.#pages.get(url) ?? this.#talk.get(url));
    if (next === null) return false;
    const { url, depth, seen } = next;
    for (const [address, reason] of seen.leftOut) this.#leave(address, reason);
    for (const document of seen.documents) {
      const page = readPage(document, url);
      for (const { url: link, words } of page.links) this.#enqueue({ url: link, depth: depth + 1 }, 'browser', words);
      for (const form of page.forms) if (!form.isBare) this.#takeForm(form, url);
    }
    for (const link of [...seen.links, ...seen.routes])
      this.#follow(link.split('#', 1)[0] ?? link, url, depth, 'browser');
    for (const { request, exchange } of seen.sent) {
      const form = formOfSent(request);
      if (!this.#forms.has(form.key)) this.#sources['browser'] = (this.#sources['browser'] ?? 0) + 1;
      this.#add(form);
      if (exchange === null || request.method !== 'GET' || this.#pages.size >= crawlLimits.pages) continue;
      if (!this.#pages.has(request.url)) this.#pages.set(request.url, exchange);
      if (/json/i.test(exchange.headers['content-type'] ?? '')) this.#json(exchange.body, request.url, depth);
    }
    return true;
  }

  #follow(path: string, base: string, depth: number, source: string): void {
    if (URL.canParse(path, base)) this.#enqueue({ url: new URL(path, base).href, depth: depth + 1 }, source);
  }

  /** Links in answers of an API. */
  #json(body: string, url: string, depth: number): void {
    for (const [, path] of body
      .slice(0, 200_000)
      .matchAll(/"((?:https?:\/\/[^"\s]{3,200})|\/[\w\-./]{2,120}(?:\?[^"\s]{0,120})?)"/g))
      this.#follow((path ?? '').replaceAll('\\/', '/'), url, depth, 'answers');
  }

  #isAlike(url: string, outline: string): boolean {
    const { pathname } = new URL(url);
    const name = `${templateOf(pathname.slice(0, pathname.lastIndexOf('/')))} ${outline}`;
    const count = (this.#outlines.get(name) ?? 0) + 1;
    this.#outlines.set(name, count);
    return count > crawlLimits.alike;
  }

  #add(form: Form): void {
    const known = this.#forms.get(form.key);
    if (known === undefined || (known.params.length === 0 && form.params.length > 0)) this.#forms.set(form.key, form);
  }

  #takeForm({ action, method, fields, words, isMultipart }: HtmlForm, page: string): void {
    const refusal = this.#talk.client.judge(action, method);
    if (refusal !== null) return this.#leave(action, refusal.replaceAll('_', ' '));
    if (isHarmful(new URL(action).pathname, words)) return this.#leave(action, 'would log out or destroy something');
    const inQuery = [...new URL(action).searchParams].map(([name, value]): Param => ({ name, value, place: 'query' }));
    const params = fields.map(({ name, value, type }): Param => {
      const isToken = type === 'hidden' && tokenName.test(name);
      return {
        name,
        value: type === 'file' ? 'scan.png' : value === '' ? sampleOf(name, type) : value,
        place: method === 'GET' ? 'query' : 'body',
        ...(isToken ? { isToken } : {}),
        ...(type === 'file' ? { file: 'scan', isFixed: true } : {}),
      };
    });
    const own = new Set(params.map(({ name }) => name));
    const all = [...inQuery.filter(({ name }) => !own.has(name)), ...params];
    const kind = method !== 'POST' ? 'none' : isMultipart ? 'multipart' : 'form';
    const form = toForm({ method, url: action, params: all, bodyKind: kind, page });
    this.#sources['forms'] = (this.#sources['forms'] ?? 0) + 1;
    this.#add(form);
    if (method === 'GET') this.#enqueue({ url: addressOf(form), depth: 1 }, 'forms');
  }

  async #robots(): Promise<void> {
    const sitemaps = new Set([`${this.#origin}/sitemap.xml`]);
    const robots = await this.#talk.get(`${this.#origin}/robots.txt`);
    if (robots !== null && robots.status === 200 && !/html/i.test(robots.headers['content-type'] ?? ''))
      for (const line of robots.body.split(/\r?\n/).slice(0, 2000)) {
        const [, name = '', value = ''] = /^\s*(\w+)\s*:\s*(\S+)/.exec(line) ?? [];
        if (/^sitemap$/i.test(name)) sitemaps.add(value);
        else if (/^(?:dis)?allow$/i.test(name) && !/[*$]/.test(value)) this.#follow(value, this.#origin, 0, 'robots');
      }
    for (const address of [...sitemaps].slice(0, 10)) {
      const map = this.#talk.client.judge(address, 'GET') === null ? await this.#talk.get(address) : null;
      if (map === null || map.status !== 200) continue;
      for (const [, url = ''] of [...map.body.matchAll(/<loc>\s*([^<\s]+)\s*<\/loc>/g)].slice(0, 2000))
        this.#enqueue({ url: url.replaceAll('&amp;', '&'), depth: 1 }, 'sitemap');
    }
  }

  async #specifications(): Promise<void> {
    for (const path of specPaths) {
      const answer = await this.#talk.get(this.#origin + path);
      if (answer === null || answer.status !== 200) continue;
      let parsed: unknown;
      try {
        parsed = JSON.parse(answer.body);
      } catch {
        continue;
      }
      for (const form of formsOfOpenApi(parsed, this.#origin)) {
        const address = addressOf(form);
        const refusal = this.#talk.client.judge(address, form.method);
        if (refusal !== null) this.#leave(`${form.method} ${address}`, refusal.replaceAll('_', ' '));
        else if (isHarmful(new URL(address).pathname)) this.#leave(address, 'would log out or destroy something');
        else {
          this.#sources['openapi'] = (this.#sources['openapi'] ?? 0) + 1;
          this.#add(form);
          const page = form.method === 'GET' ? await this.#talk.baseline(form) : null;
          if (page !== null) this.#pages.set(address, page);
        }
      }
      return;
    }
  }

  /** Operations of GraphQL as its own schema describes them. */
  async #graphql(): Promise<void> {
    for (const path of graphqlPaths) {
      const url = this.#origin + path;
      if (this.#talk.client.judge(url, 'POST') !== null) continue;
      const headers = { 'content-type': 'application/json' };
      const answer = await this.#talk.ask({ method: 'POST', url, headers, body: introspection });
      if (answer === null || answer.status !== 200) continue;
      for (const { form, operation } of formsOfGraphql(answer.body, url)) {
        if (isHarmfulOperation(operation)) this.#leave(`${url} ${operation}`, 'would log out or destroy something');
        else {
          this.#sources['graphql'] = (this.#sources['graphql'] ?? 0) + 1;
          this.#add(form);
        }
      }
    }
  }

  #takeSeen(seen: readonly SeenEndpoint[]): void {
    for (const { method, template } of seen.slice(0, crawlLimits.pages))
      if (method === 'GET' && template.startsWith('/'))
        this.#follow(template.replaceAll(/\{[^}]*\}/g, '1'), this.#origin, 0, 'inventory');
  }
}
