// What a scan has covered so far: which checks ran to their end on which forms, what was left out and why. Findings are
// closed only where this says that the same check looked at the same place again.
import type { Eyes } from '../browser/eyes.js';
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

const counts = (places: ReadonlyMap<string, ReadonlySet<string>>): Readonly<Record<string, number>> =>
  Object.fromEntries([...places].map(([id, { size }]) => [id, size]));

export type Phase = 'login' | 'crawl' | 'checks' | 'firewall' | 'done';

export class Coverage {
  /** Called with each phase, as it begins. */
  onPhase: () => void = () => undefined;
  client: PoliteClient | null = null;
  eyes: Eyes | null = null;
  pages = 0;
  findings = 0;
  /** What was not done, and why. */
  readonly notes: string[] = [];
  formsTotal = 0;
  formsDone = 0;
  readonly #began = performance.now();
  readonly #covered = new Map<string, Set<string>>();
  readonly #missed = new Map<string, Set<string>>();
  #waiting = 0;
  #phase: Phase = 'login';
  #leftOut: readonly LeftOut[] = [];
  #sources: Readonly<Record<string, number>> = {};
  #forms: readonly string[] = [];
  #unopened = 0;

  get phase(): Phase {
    return this.#phase;
  }

  set phase(next: Phase) {
    if (next === this.#phase) return;
    this.#phase = next;
    this.onPhase();
  }

  tellCrawl(pages: number, waiting: number): void {
    [this.pages, this.#waiting] = [pages, waiting];
  }

  crawled({ leftOut, sources, forms, pages, unopened }: Crawled): void {
    this.#unopened = unopened.pages;
    const which = unopened.pages === 1 ? 'page that needs a browser was' : 'pages that need a browser were';
    if (unopened.pages > 0) this.notes.push(`${unopened.pages} ${which} not looked at in one. ${unopened.why}`);
    [this.#leftOut, this.#sources, this.pages] = [leftOut, sources, pages.size];
    this.#forms = forms.map(({ key }) => key);
  }

  cover(checkId: string, form: Form): void {
    this.#note(this.#covered, checkId, form);
  }

  /** One of its values was not looked at: whatever the others show, nothing is closed there. */
  miss(checkId: string, form: Form): void {
    this.#note(this.#missed, checkId, form);
  }

  #note(noted: Map<string, Set<string>>, checkId: string, form: Form): void {
    const places = noted.get(checkId) ?? new Set<string>();
    noted.set(checkId, places);
    if (places.size < placesMax) places.add(placeKey(form.url));
  }

  covers(checkId: string, url: string): boolean {
    const missed = this.#missed.get(checkId);
    // a list that is full may lack this place
    if (missed !== undefined && (missed.size >= placesMax || missed.has(placeKey(url)))) return false;
    return this.#covered.get(checkId)?.has(placeKey(url)) === true;
  }

  /** The crawl is worth a third; how long it is shows at its end. */
  get percent(): number {
    if (this.phase === 'login') return 0;
    if (this.phase === 'crawl') return Math.min(30, Math.round((30 * this.pages) / (this.pages + this.#waiting + 10)));
    return Math.min(99, 30 + Math.round((65 * this.formsDone) / Math.max(1, this.formsTotal)));
  }

  toJson() {
    const asked = this.client?.counts;
    const seconds = (performance.now() - this.#began) / 1000;
    const requests = asked?.requests ?? 0;
    return {
      phase: this.phase,
      notes: this.notes,
      requests,
      failed_requests: asked?.failed ?? 0,
      requests_per_second: Math.round((requests / Math.max(0.001, seconds)) * 10) / 10,
      refused: asked?.refused ?? {},
      slowed: asked?.slowed ?? 0,
      seconds: Math.round(seconds * 10) / 10,
      pages: this.pages,
      forms: this.formsTotal,
      forms_done: this.formsDone,
      findings: this.findings,
      browser: {
        pages: this.eyes?.pages ?? 0,
        requests: this.eyes?.gate.asked ?? 0,
        not_looked_at: this.#unopened,
      },
      sources: this.#sources,
      checks: counts(this.#covered),
      not_looked_at: counts(this.#missed),
      shapes: this.#forms.slice(0, 500),
      left_out: this.#leftOut.slice(0, 200),
    };
  }
}
