// The log of a scan, for people: what it did when, without what was sent. Lines are written with its beats.
import type { Sql } from '../../database.js';
import { maskSecrets } from '../../secrets/mask.js';
import type { Found } from '../model.js';
import type { Coverage } from './coverage.js';

const linesMax = 5000;
const lineMax = 1000;

export class ScanLog {
  readonly #coverage: Coverage;
  readonly #waiting: string[] = [];
  #notes = 0;
  #slowed = 0;
  #written = 0;

  constructor(coverage: Coverage) {
    this.#coverage = coverage;
    coverage.onPhase = () => this.#tellPhase();
  }

  tell(text: string): void {
    if (this.#written + this.#waiting.length < linesMax) this.#waiting.push(maskSecrets(text).slice(0, lineMax));
  }

  found({ check, form, param }: Found): void {
    this.tell(
      `found ${check.id} (${check.severity}) at ${form.method} ${form.url}${param === null ? '' : ` [${param}]`}`,
    );
  }

  #tellPhase(): void {
    const { phase, pages, formsTotal, formsDone } = this.#coverage;
    const at =
      phase === 'crawl' ? '' : phase === 'checks' ? `: ${pages} pages` : `: ${formsDone} of ${formsTotal} forms`;
    this.tell(`phase ${phase}${at}`);
  }

  /** What has changed since the last time. */
  #look(): void {
    const { notes, client } = this.#coverage;
    for (const note of notes.slice(this.#notes)) this.tell(note);
    this.#notes = notes.length;
    const slowed = client?.counts.slowed ?? 0;
    if (slowed > this.#slowed) this.tell(`slower now: the target was busy ${slowed} times`);
    this.#slowed = slowed;
  }

  async write(sql: Sql, runId: number, now: Date): Promise<void> {
    this.#look();
    while (this.#waiting.length > 0) {
      const texts = this.#waiting.slice(0, 100);
      const rows = texts.map((text, at) => ({ run_id: runId, line: this.#written + at + 1, at: now, text }));
      await sql`insert into vm_run_lines ${sql(rows as never)} on conflict (run_id, line) do nothing`;
      this.#waiting.splice(0, texts.length);
      this.#written += texts.length;
    }
  }
}
