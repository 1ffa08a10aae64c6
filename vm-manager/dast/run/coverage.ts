// What a scan has covered so far: which checks ran to their end on which forms, what was left out and why. Findings are
// closed only where this says that the same check looked at the same place again.
import type { Crawled, LeftOut } from '../crawl/crawl.js';
import { templateOf } from '../http/forms.js';
import type { PoliteClient } from '../http/polite-client.js';
import type { Form } from '../model.js';

/** A place as a stored finding names it: by its address alone. */
export function placeKey(url: string): string {
  if (!URL.canParse(url)) return url;
  const { origin, pathname } = new URL(url);
  let path = pathname;
  try {
    path = decodeURI(pathname);
  } catch {
    // as it is
  }
  return `${origin}${templateOf(path).replaceAll(/\{[^/{}]*\}/g, '{}')}`;
}

const placesMax = 20_000;

export class Coverage {
  phase: 'login' | 'crawl' | 'checks' | 'firewall' | 'done' = 'login';
  client: PoliteClient | null = null;
  pages = 0;
  findings = 0;
  /** What was not done, and why. */
  readonly notes: string[] = [];
  formsTotal = 0;
  formsDone = 0;
  readonly #began = performance.now();
  readonly #covered = new Map<string, Set<string>>();
  #waiting = 0;
  #leftOut: readonly LeftOut[] = [];
  #sources: Readonly<Record<string, number>> = {};
  #forms: readonly string[] = [];

  tellCrawl(pages: number, waiting: number): void {
    [this.pages, this.#waiting] = [pages, waiting];
  }

  crawled({ leftOut, sources, forms, pages }: Crawled): void {
    [this.#leftOut, this.#sources, this.pages] = [leftOut, sources, pages.size];
    this.#forms = forms.map(({ key }) => key);
  }

  cover(checkId: string, form: Form): void {
    const places = this.#covered.get(checkId) ?? new Set<string>();
    this.#covered.set(checkId, places);
    if (places.size < placesMax) places.add(placeKey(form.url));
  }

  covers(checkId: string, url: string): boolean {
    return this.#covered.get(checkId)?.has(placeKey(url)) === true;
  }

  /** The crawl is worth a third; nobody knows how long it is before it ends. */
  get percent(): number {
    if (this.phase === 'login') return 0;
    if (this.phase === 'crawl') return Math.min(30, Math.round((30 * this.pages) / (this.pages + this.#waiting + 10)));
    return Math.min(99, 30 + Math.round((65 * this.formsDone) / Math.max(1, this.formsTotal)));
  }

  toJson() {
    const counts = this.client?.counts;
    const seconds = (performance.now() - this.#began) / 1000;
    const requests = counts?.requests ?? 0;
    return {
      phase: this.phase,
      notes: this.notes,
      requests,
      failed_requests: counts?.failed ?? 0,
      requests_per_second: Math.round((requests / Math.max(0.001, seconds)) * 10) / 10,
      refused: counts?.refused ?? {},
      slowed: counts?.slowed ?? 0,
      seconds: Math.round(seconds * 10) / 10,
      pages: this.pages,
      forms: this.formsTotal,
      forms_done: this.formsDone,
      findings: this.findings,
      sources: this.#sources,
      checks: Object.fromEntries([...this.#covered].map(([id, places]) => [id, places.size])),
      shapes: this.#forms.slice(0, 500),
      left_out: this.#leftOut.slice(0, 200),
    };
  }
}
