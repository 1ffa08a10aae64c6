// Verdicts on clients short of a ban: who is slowed down, and who has to answer a challenge, each with its end. The
// control plane sends the whole list; ends are this node's to keep, so that one that is away lifts nothing too late.
import { createHash } from 'node:crypto';
import { buildAddressSet } from '../../shared-state/address-set.js';
import type { ThreatTable } from '../../shared-state/threat-delta.js';
import type { VerdictTables } from '../../shared-state/verdict-tables.js';

/** Beyond, the list is refused. */
const verdictsMax = 100_000;
const longestTimerMs = 2 ** 31 - 1;

export interface Verdict {
  readonly network: string;
  readonly action: 'challenge' | 'throttle';
  /** Wall clock, ms. */
  readonly untilMs: number;
}

function readVerdicts(value: unknown): readonly Verdict[] {
  const { verdicts } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isOne = (one: unknown): one is Verdict => {
    const { network, action, untilMs } = (one ?? {}) as Readonly<Record<string, unknown>>;
    return typeof network === 'string' && (action === 'challenge' || action === 'throttle') && Number.isFinite(untilMs);
  };
  if (!Array.isArray(verdicts) || !verdicts.every(isOne))
    throw new RangeError(
      'send {"verdicts": [{"network": "192.0.2.1", "action": "challenge" or "throttle", "untilMs": its end}]}',
    );
  if (verdicts.length > verdictsMax) throw new RangeError(`at most ${verdictsMax} verdicts`);
  return verdicts;
}

export class VerdictList {
  private verdicts: readonly Verdict[] = [];
  private tables: VerdictTables | null = null;
  private version = 0;
  private timer: NodeJS.Timeout | null = null;
  /** Of the list that was sent; '' before. */
  sha256 = '';

  /** Called with each new list. */
  onChange: (tables: VerdictTables) => void = () => {};

  /** null: none was given. */
  get current(): VerdictTables | null {
    return this.tables;
  }

  /** The whole list. Throws RangeError for what is none. */
  replace(candidate: unknown): number {
    const verdicts = readVerdicts(candidate);
    this.use(verdicts);
    this.sha256 = createHash('sha256').update(JSON.stringify(verdicts)).digest('hex');
    return verdicts.length;
  }

  private use(verdicts: readonly Verdict[]): void {
    const nowMs = Date.now();
    const live = verdicts.filter(({ untilMs }) => untilMs > nowMs);
    const version = this.version + 1;
    const of = (action: Verdict['action']): ThreatTable => ({
      version,
      table: buildAddressSet(live.filter((one) => one.action === action).map(({ network }) => network)),
    });
    this.tables = { challenged: of('challenge'), throttled: of('throttle') };
    this.version = version;
    this.verdicts = live;
    this.onChange(this.tables);
    this.watch(nowMs);
  }

  /** The next end of one builds the tables anew; ends within a second go together. */
  private watch(nowMs: number): void {
    this.close();
    if (this.verdicts.length === 0) return;
    const next = this.verdicts.reduce((soonest, { untilMs }) => Math.min(soonest, untilMs), Number.POSITIVE_INFINITY);
    const afterMs = Math.min(longestTimerMs, Math.max(1000, next - nowMs));
    this.timer = setTimeout(() => this.use(this.verdicts), afterMs).unref();
  }

  describe(): Record<string, unknown> {
    const count = (wanted: Verdict['action']): number => this.verdicts.filter(({ action }) => action === wanted).length;
    return { sha256: this.sha256, challenge: count('challenge'), throttle: count('throttle') };
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}
