// Verdicts on clients short of a ban, and on principals: who is refused, who is slowed down, and who has to answer a
// challenge, each with its end. The control plane sends the whole list; ends are this node's to keep, so that one that
// is away lifts nothing too late.
import { createHash } from 'node:crypto';
import { buildAddressSet } from '../../shared-state/address-set.js';
import type { ThreatTable } from '../../shared-state/threat-delta.js';
import { keyOf, principalKinds, type PrincipalName } from '../../features/principals.js';
import {
  principalActions,
  principalVerdictsMax,
  type PrincipalAction,
  type VerdictTables,
} from '../../shared-state/verdict-tables.js';

/** Beyond, the list is refused. */
const verdictsMax = 100_000;
const longestTimerMs = 2 ** 31 - 1;

export interface Verdict {
  readonly network: string;
  readonly action: 'challenge' | 'throttle';
  /** Wall clock, ms. */
  readonly untilMs: number;
}

/** A verdict on a principal, at whatever address it is. */
export interface PrincipalVerdict extends PrincipalName {
  readonly action: PrincipalAction;
  /** Wall clock, ms. */
  readonly untilMs: number;
}

function readPrincipals(value: unknown): readonly PrincipalVerdict[] {
  const { principals = [] } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isOne = (one: unknown): one is PrincipalVerdict => {
    const { kind, id, action, untilMs } = (one ?? {}) as Readonly<Record<string, unknown>>;
    return (
      (principalKinds as readonly unknown[]).includes(kind) &&
      typeof id === 'string' &&
      /^[0-9a-f]{16}$/.test(id) &&
      (principalActions as readonly unknown[]).includes(action) &&
      Number.isFinite(untilMs)
    );
  };
  if (!Array.isArray(principals) || !principals.every(isOne))
    throw new RangeError(
      'send {"principals": [{"kind": "jwt", "id": 16 hexadecimal digits, "action": "deny", "untilMs": its end}]}; ' +
        `kinds: ${principalKinds.join(', ')}; actions: ${principalActions.join(', ')}`,
    );
  if (principals.length > principalVerdictsMax) throw new RangeError(`at most ${principalVerdictsMax} principals`);
  return principals;
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
  private principals: readonly PrincipalVerdict[] = [];
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

  /**
   * The whole list: `{"verdicts": [...], "principals": [...]}`, the latter may be left out. Returns how many there are.
   * Throws RangeError for what is none, and leaves the list before in force.
   */
  replace(candidate: unknown): number {
    const verdicts = readVerdicts(candidate);
    const principals = readPrincipals(candidate);
    this.use(verdicts, principals);
    this.sha256 = digestOf(verdicts, principals);
    return verdicts.length + principals.length;
  }

  private use(verdicts: readonly Verdict[], principals: readonly PrincipalVerdict[]): void {
    const nowMs = Date.now();
    const live = verdicts.filter(({ untilMs }) => untilMs > nowMs);
    const livePrincipals = principals.filter(({ untilMs }) => untilMs > nowMs);
    const version = this.version + 1;
    const of = (action: Verdict['action']): ThreatTable => ({
      version,
      table: buildAddressSet(live.filter((one) => one.action === action).map(({ network }) => network)),
    });
    this.tables = {
      challenged: of('challenge'),
      throttled: of('throttle'),
      principals: livePrincipals.map((one) => [keyOf(one), one.action]),
    };
    this.version = version;
    this.verdicts = live;
    this.principals = livePrincipals;
    this.onChange(this.tables);
    this.watch(nowMs);
  }

  /** The next end of one builds the tables anew; ends within a second go together. */
  private watch(nowMs: number): void {
    this.close();
    let next = Number.POSITIVE_INFINITY;
    for (const { untilMs } of this.verdicts) next = Math.min(next, untilMs);
    for (const { untilMs } of this.principals) next = Math.min(next, untilMs);
    if (next === Number.POSITIVE_INFINITY) return;
    const afterMs = Math.min(longestTimerMs, Math.max(1000, next - nowMs));
    this.timer = setTimeout(() => this.use(this.verdicts, this.principals), afterMs).unref();
  }

  describe(): Record<string, unknown> {
    const count = (wanted: Verdict['action']): number => this.verdicts.filter(({ action }) => action === wanted).length;
    const principals = Object.fromEntries(
      principalActions.map((wanted) => [wanted, this.principals.filter(({ action }) => action === wanted).length]),
    );
    return { sha256: this.sha256, challenge: count('challenge'), throttle: count('throttle'), principals };
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}

/** Of the list as it was sent; one without principals has the digest that it had before there were any. */
const digestOf = (verdicts: readonly Verdict[], principals: readonly PrincipalVerdict[]): string =>
  createHash('sha256')
    .update(JSON.stringify(principals.length === 0 ? verdicts : [verdicts, principals]))
    .digest('hex');
