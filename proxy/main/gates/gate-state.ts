// What main knows of the gates: the memory that workers share, the bans with their reasons (the shared table has only
// keys), and the addresses that must not be banned.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BanRecord } from '../../admit/bans/auto-ban.js';
import type { KeySetMessage } from '../../admit/site-auth/key-set.js';
import { buildAddressSet } from '../../shared-state/address-set.js';
import { banEntries } from '../../shared-state/ban-table.js';
import { ClientKey } from '../../shared-state/client-key.js';
import { rateEntries } from '../../shared-state/rates/rate-counters.js';
import { createGateMemory, openGateMemory, type GateMemory, type GateTables } from '../../shared-state/gate-memory.js';
import { createSharedClock } from '../../shared-state/shared-clock.js';
import type { CrashingRequest } from '../../shared-state/crash-requests.js';
import type { AddressTable } from '../../shared-state/address-set-holder.js';
import { writeAtomically } from '../atomic-file.js';

function asKeySet(value: unknown): KeySetMessage | null {
  const { url, fetchedAtMs, keys } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isOne =
    typeof url === 'string' &&
    typeof fetchedAtMs === 'number' &&
    Array.isArray(keys) &&
    keys.every((key) => typeof key === 'object' && key !== null);
  return isOne ? { url, fetchedAtMs, keys: keys as KeySetMessage['keys'] } : null;
}

/** More addresses than anybody has people for; beyond, the list is refused. */
const safeMax = 10_000;

export class GateState {
  readonly memory: GateMemory;
  readonly tables: GateTables;
  private readonly sharedMs = createSharedClock();
  private readonly records = new Map<string, BanRecord>();
  private safeTable: AddressTable | null = null;

  private keySet: KeySetMessage | null = null;
  /** Wall clock; 0 = never. */
  private keysWantedAtMs = 0;

  /**
   * `dataDir`: where the key set is kept, so that a restart without a control plane has it. `seeds`: of the keys of
   * limits, where nodes share them.
   */
  constructor(
    private readonly dataDir: string,
    workers = 1,
    seeds?: readonly [number, number],
  ) {
    this.memory = createGateMemory(rateEntries, workers, seeds);
    this.tables = openGateMemory(this.memory);
  }

  /** Worker `index` is gone. */
  forgetWorker(index: number): void {
    this.tables.connections.forget(index);
    this.tables.sharing.forget(index);
  }

  private get keysPath(): string {
    return join(this.dataDir, 'site-keys.json');
  }

  /** The key set of before; one that cannot be read is as good as none, and the control plane sends it again. */
  async resume(): Promise<void> {
    try {
      this.keySet = asKeySet(JSON.parse(await readFile(this.keysPath, 'utf8')));
    } catch {
      this.keySet = null;
    }
  }

  get siteKeys(): KeySetMessage | null {
    return this.keySet;
  }

  /** A token named a key that is not there. */
  wantKeys(): void {
    this.keysWantedAtMs = Date.now();
  }

  /** What the control plane has to know to bring the key set up to date. */
  get keysState(): { readonly url: string; readonly fetchedAtMs: number; readonly wantedAtMs: number } {
    const { url = '', fetchedAtMs = 0 } = this.keySet ?? {};
    return { url, fetchedAtMs, wantedAtMs: this.keysWantedAtMs };
  }

  /** Throws RangeError for what is no key set. */
  async replaceSiteKeys(candidate: unknown): Promise<KeySetMessage> {
    const set = asKeySet(candidate);
    if (set === null) throw new RangeError('send {"url": where it came from, "fetchedAtMs": when, "keys": [JWK, …]}');
    this.keySet = set;
    await mkdir(this.dataDir, { recursive: true });
    await writeAtomically(this.keysPath, Buffer.from(JSON.stringify(set)));
    return set;
  }

  /** A worker ended at this request; `agoMs`: so long ago. */
  crashed(request: CrashingRequest, agoMs = 0): void {
    const key = new ClientKey(this.tables.rates.seeds);
    this.tables.crashRequests.note(request, key, this.sharedMs(performance.now()) - agoMs);
  }

  /** A worker banned somebody. */
  banned(record: BanRecord): void {
    this.forgetEnded();
    this.records.delete(record.network); // so that the order is that of the bans
    this.records.set(record.network, record);
    // the shared table has no room for more either; the oldest goes first
    if (this.records.size > banEntries) this.records.delete(this.records.keys().next().value as string);
  }

  /** Bans in force, the oldest first. */
  get bans(): readonly BanRecord[] {
    this.forgetEnded();
    return [...this.records.values()];
  }

  private forgetEnded(): void {
    const nowMs = Date.now();
    for (const [network, { untilMs }] of this.records) if (untilMs <= nowMs) this.records.delete(network);
  }

  /** Lifts a ban, and forgets those before it. Returns whether there was one. `network` as `bans` names it. */
  lift(network: string): boolean {
    const key = new ClientKey(this.tables.rates.seeds);
    key.read(network.replace(/\/64$/, ''));
    this.records.delete(network);
    return this.tables.bans.lift(key.low, key.high, this.sharedMs(performance.now()));
  }

  /** The addresses that must not be banned automatically, whole. Throws RangeError for what is no list of addresses. */
  replaceSafe(addresses: readonly string[]): AddressTable {
    if (addresses.length > safeMax) throw new RangeError(`at most ${safeMax} addresses; send networks instead`);
    const table = buildAddressSet(addresses);
    return (this.safeTable = { version: (this.safeTable?.version ?? 0) + 1, table });
  }

  /** null: none was given. */
  get safe(): AddressTable | null {
    return this.safeTable;
  }

  get rateKeysEvicted(): number {
    return this.tables.rates.evictions;
  }

  /** Keys of limits in use, of `keysMax`. */
  countRateKeys(): { readonly keys: number; readonly keysMax: number } {
    const { rates } = this.tables;
    return { keys: rates.countLive(Math.floor(this.sharedMs(performance.now()) / 1000)), keysMax: rates.entries };
  }
}
