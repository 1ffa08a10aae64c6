// The certificates that serve, kept in step with a folder: looked at again every few seconds, since what replaces files
// there (ACME clients, Kubernetes, people) does it in every way there is. Half of a replacement changes nothing: what
// served goes on serving until what takes its place can be used.
import { join, resolve } from 'node:path';
import type { CertificateEntry, CertificateSet } from './certificate-set.js';
import { findFiles, readCertificates, type CertificateProblem } from './certificate-files.js';
import { selfSigned } from './self-signed.js';

export interface CertificateStoreOptions {
  /** Folder of certificates and keys; it need not be there. */
  readonly folder: string;
  /** Where the self-signed one is kept. */
  readonly dataDir: string;
  /** Hosts of sites, for the self-signed one. */
  readonly hosts: readonly string[];
  readonly onProblem: (problem: CertificateProblem) => void;
  readonly everyMs?: number;
}

export interface CertificateView {
  readonly source: string;
  readonly names: readonly string[];
  readonly notAfter: string;
  readonly isFallback: boolean;
}

const lookEveryMs = 2000;
/** A certificate that ends within this time is told of, once a start and certificate. */
const warnBeforeMs = 14 * 86_400_000;

export class CertificateStore {
  private marks = '';
  private told = new Set<string>();
  private timer: NodeJS.Timeout | null = null;
  private onChange: (set: CertificateSet) => void = () => {};
  private files: readonly CertificateEntry[] = [];
  private managed: readonly CertificateEntry[] = [];

  private constructor(
    private readonly options: CertificateStoreOptions,
    private readonly own: CertificateEntry,
    private readonly skipped: ReadonlySet<string>,
    private set: CertificateSet,
  ) {}

  /** Reads the folder; makes a self-signed certificate where there is none yet. */
  static async open(options: CertificateStoreOptions): Promise<CertificateStore> {
    const path = join(resolve(options.dataDir), 'tls', 'self-signed.pem');
    const own = await selfSigned(path, options.hosts, Date.now());
    const store = new CertificateStore(options, own, new Set([path]), { version: 0, entries: [], fallback: own });
    await store.look();
    return store;
  }

  get current(): CertificateSet {
    return this.set;
  }

  get view(): readonly CertificateView[] {
    const { entries, fallback } = this.set;
    const all = entries.includes(fallback) ? entries : [...entries, fallback];
    return all.map(({ source, names, notAfterMs }, index) => ({
      source,
      names,
      notAfter: new Date(notAfterMs).toISOString(),
      isFallback: all[index] === fallback,
    }));
  }

  /** `onChange` gets what serves from now on, whenever the folder changed. */
  watch(onChange: (set: CertificateSet) => void): void {
    this.onChange = onChange;
    this.again();
  }

  private again(): void {
    this.timer = setTimeout(() => {
      void this.look()
        .catch((error: unknown) => this.tell({ source: this.options.folder, message: (error as Error).message }))
        .then(() => {
          if (this.timer !== null) this.again();
        });
    }, this.options.everyMs ?? lookEveryMs);
    this.timer.unref();
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private async look(): Promise<void> {
    const folder = resolve(this.options.folder);
    const files = await findFiles(folder, this.skipped);
    const marks = files.map(({ mark }) => mark).join('\n');
    if (marks === this.marks && this.set.version > 0) return;
    this.marks = marks;
    const { entries, problems } = await readCertificates(folder, files);
    for (const problem of problems) this.tell(problem);
    const broken = new Set(problems.map(({ source }) => source));
    const kept = this.files.filter((entry) => broken.has(entry.source));
    this.files = [...entries, ...kept];
    this.replace();
  }

  /** Those of the control plane, whole; of two for one name the one that ends last serves, whosever it is. */
  useManaged(entries: readonly CertificateEntry[]): void {
    this.managed = entries;
    this.replace();
  }

  private replace(): void {
    const nowMs = Date.now();
    const entries =
      this.managed.length === 0
        ? this.files
        : [...this.managed, ...this.files].sort((one, other) => other.notAfterMs - one.notAfterMs);
    for (const { source, notAfterMs } of this.files)
      if (notAfterMs < nowMs + warnBeforeMs)
        this.tell({
          source,
          message: `${notAfterMs < nowMs ? 'ended' : 'ends'} on ${new Date(notAfterMs).toISOString()}; renew it`,
        });
    const bySource = [...this.files].sort((one, other) => (one.source < other.source ? -1 : 1));
    const fallback =
      bySource.find(({ source }) => /^default\b/.test(source)) ?? bySource[0] ?? this.managed[0] ?? this.own;
    this.set = { version: this.set.version + 1, entries, fallback };
    this.onChange(this.set);
  }

  private tell(problem: CertificateProblem): void {
    const key = `${problem.source} ${problem.message}`;
    if (this.told.has(key)) return;
    if (this.told.size > 1000) this.told.clear();
    this.told.add(key);
    this.options.onProblem(problem);
  }
}
