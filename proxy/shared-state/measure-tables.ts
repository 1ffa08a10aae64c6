// Client measures on their way from main (main/gates/measure-list.ts) to a thread, and as its gates ask for them: what
// is decided of an address is one look-up, of any source. Ends are main's to keep, so that no gate asks a clock.
import { parseIpv4, parseIpv6 } from '#engine';
import { buildAddressSet, openAddressSet, withoutZone, type AddressSet } from './address-set.js';
import { measureActions, type MeasureAction } from './measure-line.js';
import { mappedPrefix } from './networks.js';

/** Principals that are in force at once; the rest waits until others end. */
export const principalMeasuresMax = 100_000;

/** By `kind:id` (features/principals.ts). */
export type PrincipalTable = readonly (readonly [key: string, action: MeasureAction])[];

/** What a change does to the principals. */
export interface PrincipalChange {
  /** New ones, and ones with another action. */
  readonly set: PrincipalTable;
  readonly gone: readonly string[];
}

/** What changed; a table that did not is left out. */
export interface MeasureTables {
  /** Counts up within one process. */
  readonly version: number;
  /** By action: networks in shared memory, one table for all workers. */
  readonly networks: Readonly<Partial<Record<MeasureAction, SharedArrayBuffer>>>;
  readonly principals: PrincipalChange;
}

/** Bits of what is decided of an address. */
export const isDenied = 1;
export const isChallenged = 2;
export const isThrottled = 4;
const nobody = openAddressSet(buildAddressSet([]));

/** What gates ask about addresses. */
export interface MeasureLookup {
  /** Whether any address is challenged or throttled at all. */
  readonly hasChallenges: boolean;
  readonly hasThrottles: boolean;
  /** Bits; 0 for a text that is no address. */
  on(address: string): number;
}

/** Measures on principals as gates of one thread read them. */
export class PrincipalMeasures {
  readonly listed = new Map<string, MeasureAction>();
  private challenges = 0;

  /** Whether one of them is a challenge: its answers are asked for without the credential. */
  get hasChallenges(): boolean {
    return this.challenges > 0;
  }

  change({ set, gone }: PrincipalChange): void {
    for (const key of gone) this.forget(key);
    for (const [key, action] of set) {
      this.forget(key);
      this.listed.set(key, action);
      if (action === 'challenge') this.challenges += 1;
    }
  }

  private forget(key: string): void {
    if (this.listed.get(key) === 'challenge') this.challenges -= 1;
    this.listed.delete(key);
  }
}

/**
 * What a worker holds. A change is assignments between two requests: a look-up sees what was before or what is after.
 */
export class ClientMeasures implements MeasureLookup {
  private readonly sets: Record<MeasureAction, AddressSet> = {
    deny: nobody,
    challenge: nobody,
    throttle: nobody,
  };
  private isEmpty = true;
  readonly principals = new PrincipalMeasures();
  hasChallenges = false;
  hasThrottles = false;
  /** Of the last change; 0: there was none. */
  version = 0;
  /** Several gates ask about the same client one after the other. */
  private lastAddress = '';
  private lastBits = 0;

  /** Changes may arrive out of order; an older one is ignored. Returns whether it is in force now. */
  change({ version, networks, principals }: MeasureTables): boolean {
    if (version <= this.version) return false;
    const { sets } = this;
    for (const action of measureActions) {
      const table = networks[action];
      if (table !== undefined) sets[action] = openAddressSet(table);
    }
    this.principals.change(principals);
    this.hasChallenges = sets.challenge.intervals > 0;
    this.hasThrottles = sets.throttle.intervals > 0;
    this.isEmpty = sets.deny.intervals === 0 && !this.hasChallenges && !this.hasThrottles;
    this.version = version;
    this.lastAddress = '';
    this.lastBits = 0;
    return true;
  }

  on(address: string): number {
    if (this.isEmpty) return 0;
    // one gate asks for denials, once
    if (!this.hasChallenges && !this.hasThrottles) return this.find(address);
    if (address === this.lastAddress) return this.lastBits;
    this.lastBits = this.find(address);
    this.lastAddress = address;
    return this.lastBits;
  }

  /** The address is read once for all tables. */
  private find(address: string): number {
    const number = parseIpv4(address);
    if (number >= 0) return this.ofIpv4(number);
    const words = parseIpv6(withoutZone(address));
    if (words === null) return 0;
    const mapped = words[0] === 0 && words[1] === 0 && words[2] === mappedPrefix ? this.ofIpv4(words[3]) : 0;
    const { deny, challenge, throttle } = this.sets;
    let bits = mapped;
    if (deny.hasIpv6(words)) bits |= isDenied;
    if (this.hasChallenges && challenge.hasIpv6(words)) bits |= isChallenged;
    if (this.hasThrottles && throttle.hasIpv6(words)) bits |= isThrottled;
    return bits;
  }

  private ofIpv4(number: number): number {
    const { deny, challenge, throttle } = this.sets;
    let bits = deny.hasIpv4(number) ? isDenied : 0;
    if (this.hasChallenges && challenge.hasIpv4(number)) bits |= isChallenged;
    if (this.hasThrottles && throttle.hasIpv4(number)) bits |= isThrottled;
    return bits;
  }
}
