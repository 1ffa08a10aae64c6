// The list of client measures, main's side: checked, built into shared memory, kept on disk, and given to the workers
// by the supervisor. No recompile, no generation: a change is one message to each worker, with the tables that it
// touched and no other. What ends is lifted here when it ends, whether or not a control plane can be reached, and also
// after a restart.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../contract/errors.js';
import { openAddressSet, packNetworks } from '../../shared-state/address-set.js';
import { ExpiringNetworks, readListed } from '../../shared-state/expiring-networks.js';
import { changeMeasureText, measureTextBytesMax, type MeasureDelta } from '../../shared-state/measure-delta.js';
import { measureActions, principalOf, readMeasureKey, type MeasureAction } from '../../shared-state/measure-line.js';
import type { MeasureTables, PrincipalChange } from '../../shared-state/measure-tables.js';
import { changeNetworks, readNetworks, type Networks } from '../../shared-state/networks.js';
import { sha256Of } from '../artifacts.js';
import { writeAtomically } from '../atomic-file.js';
import { PrincipalList, type OnPrincipal } from './principal-list.js';

export type MeasureReply =
  | {
      readonly outcome: 'active';
      readonly sha256: string;
      readonly networks: number;
      readonly intervals: number;
      readonly isPersisted: boolean;
    }
  | { readonly outcome: 'refused'; readonly reason: string }
  /**
   * Another list is in force than the change is meant for, or the change would not end where its sender says: send the
   * whole list.
   */
  | { readonly outcome: 'mismatch'; readonly sha256: string };

/** One line for each network; empty lines do not count. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end < 0 ? text.length : end).trim();
    from = end < 0 ? text.length : end + 1;
    if (line !== '') yield line;
  }
}

type OfActions<T> = Record<MeasureAction, T>;
const forActions = <T>(make: (action: MeasureAction) => T): OfActions<T> => ({
  deny: make('deny'),
  challenge: make('challenge'),
  throttle: make('throttle'),
});

interface List {
  readonly text: Buffer;
  /** Of the text: how a sender sees whether this node has the list it means. */
  readonly sha256: string;
  /** In force: what is over is in the text and not here. */
  readonly networks: Readonly<OfActions<Networks>>;
  readonly principals: PrincipalList;
  /** Of networks and principals. */
  readonly expiring: ExpiringNetworks;
}

/** What the gates say of their memory (admit/deny-list.ts) is made true here. */
function checkSize({ length }: Buffer): void {
  if (length > measureTextBytesMax)
    throw new RangeError(`the list would have ${length} bytes; at most ${measureTextBytesMax}`);
}

interface Sorted {
  readonly networks: Readonly<OfActions<Networks>>;
  readonly principals: readonly OnPrincipal[];
}

/** Keys of lines, by what they are about. Throws RangeError for what is no key. */
function sortKeys(keys: Iterable<string>): Sorted {
  const networks = forActions<string[]>(() => []);
  const principals: OnPrincipal[] = [];
  for (const key of keys) {
    const one = readMeasureKey(key);
    if (principalOf(one.subject) === null) networks[one.action].push(one.subject);
    else principals.push(one);
  }
  return { networks: forActions((action) => readNetworks(networks[action])), principals };
}

const countOf = ({ ipv4, ipv6 }: Networks): number => ipv4.length + ipv6.length;

/** A list, and the changes that bring workers there from the one before. */
interface Next {
  readonly list: List;
  readonly touched: readonly MeasureAction[];
  readonly principals: PrincipalChange;
}

function readList(text: Buffer, nowMs: number): List {
  checkSize(text);
  const expiring = new ExpiringNetworks();
  const { networks, principals: on } = sortKeys(
    expiring.add([...linesOf(text.toString('latin1'))].map(readListed), nowMs),
  );
  const principals = new PrincipalList();
  principals.change(on, []);
  return { text, sha256: sha256Of(text), networks, principals, expiring };
}

/** From any list to a new one. */
function replaceBy(list: List, before: List): Next {
  const now = list.principals.inForce;
  const was = before.principals.inForce;
  const gone = [...was.keys()].filter((key) => !now.has(key));
  const set = [...now].filter(([key, action]) => was.get(key) !== action);
  return { list, touched: measureActions, principals: { set, gone } };
}

/** Takes keys out of what is in force, and puts others in; costs what is touched. */
function changeKeys(list: List, come: Sorted, gone: Sorted): Next {
  const touched = measureActions.filter(
    (action) => countOf(come.networks[action]) + countOf(gone.networks[action]) > 0,
  );
  const networks = forActions((action) =>
    changeNetworks(list.networks[action], come.networks[action], gone.networks[action]),
  );
  const principals = list.principals.change(come.principals, gone.principals);
  return { list: { ...list, networks }, touched, principals };
}

/**
 * At most so often tables are built because something ended: with a million networks that takes main some 50 ms. What
 * ends in between waits for the next time, so a measure lasts at most this much too long.
 */
const liftEveryMs = 250;
/** A timer that is longer overflows. */
const sleepMsMax = 3_600_000;

type Spread = (tables: MeasureTables) => void;

export class MeasureList {
  private chain: Promise<unknown> = Promise.resolve();
  private list = readList(Buffer.alloc(0), 0);
  private readonly tables: Partial<OfActions<SharedArrayBuffer>> = {};
  private version = 0;
  private alarm: NodeJS.Timeout | undefined;
  private spreadLifted: Spread | null = null;
  private liftedMs = -Infinity;
  /** Of denials, after joining what overlaps or touches. */
  intervals = 0;

  constructor(
    private readonly dataDir: string,
    private readonly onProblem: (message: string) => void,
    private readonly now: () => number = Date.now,
  ) {}

  get sha256(): string {
    return this.list.sha256;
  }

  /** Addresses and networks that are denied at the moment. */
  get networks(): number {
    return countOf(this.list.networks.deny);
  }

  /** Everything, for a worker that starts; null: no list was given yet. */
  get current(): MeasureTables | null {
    if (this.version === 0) return null;
    const principals = { set: [...this.list.principals.inForce], gone: [] };
    return { version: this.version, networks: { ...this.tables }, principals };
  }

  describe(): Record<string, unknown> {
    const { networks, principals } = this.list;
    return {
      sha256: this.sha256,
      networks: this.networks,
      intervals: this.intervals,
      challenged: countOf(networks.challenge),
      throttled: countOf(networks.throttle),
      principals: forActions((action) => principals.count(action)),
      principalsLeftOut: principals.leftOut,
    };
  }

  private get path(): string {
    return join(this.dataDir, 'measures.txt');
  }

  /** Takes up the list that was in force before a restart; a release before this one wrote it as `threats.txt`. */
  async resume(): Promise<void> {
    try {
      const text = await readFile(this.path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return readFile(join(this.dataDir, 'threats.txt'));
      });
      this.put(replaceBy(readList(text, this.now()), this.list));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return; // never had one
      this.onProblem(
        `the list of measures in ${this.path} cannot be used (${messageOf(error)}); none is in force until one is sent`,
      );
    }
  }

  /**
   * The whole new list as text, one key a line (shared-state/measure-line.ts), with its end where it has one; a wrong
   * line refuses all of it and the old list stays. `spread` gives it to the workers.
   */
  replace(text: Buffer, spread: Spread): Promise<MeasureReply> {
    return this.inTurn(() => replaceBy(readList(text, this.now()), this.list), spread);
  }

  /** What changed in the list that is in force; costs little however long the list is. Refused whole like a list. */
  change(delta: MeasureDelta, spread: Spread): Promise<MeasureReply> {
    return this.inTurn(() => {
      const { text, sha256, expiring } = this.list;
      if (sha256 !== delta.base) return null;
      const changed = changeMeasureText(text, delta.added, delta.removed);
      checkSize(changed.text);
      const changedSha256 = sha256Of(changed.text);
      if (changedSha256 !== delta.sha256) return null;
      const listed = changed.added.map(readListed);
      sortKeys(listed.map(({ network }) => network)); // whatever is wrong is said before anything is touched
      const gone = sortKeys(expiring.remove(changed.removed));
      const come = sortKeys(expiring.add(listed, this.now()));
      return changeKeys({ ...this.list, text: changed.text, sha256: changedSha256 }, come, gone);
    }, spread);
  }

  /** One after the other; `next` null: the list that is in force is not the one that was meant. */
  private inTurn(next: () => Next | null, spread: Spread): Promise<MeasureReply> {
    const turn = this.chain.then(async (): Promise<MeasureReply> => {
      try {
        const change = next();
        if (change === null) return { outcome: 'mismatch', sha256: this.sha256 };
        spread(this.put(change));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return { outcome: 'refused', reason: error.message };
      }
      const { sha256, networks, intervals } = this;
      return { outcome: 'active', sha256, networks, intervals, isPersisted: await this.persist(this.list.text) };
    });
    this.chain = turn.catch(() => undefined); // the caller of `turn` gets the error; the next in line must still run
    return turn;
  }

  /** From now on what ends is lifted when it ends; `spread` gives the change to the workers. */
  watch(spread: Spread): void {
    this.spreadLifted = spread;
    this.sleep();
  }

  /** Ends what `watch` began. */
  close(): void {
    this.spreadLifted = null;
    clearTimeout(this.alarm);
  }

  private sleep(): void {
    clearTimeout(this.alarm);
    const { nextMs } = this.list.expiring;
    if (this.spreadLifted === null || nextMs === Infinity) return;
    const dueMs = Math.max(nextMs, this.liftedMs + liftEveryMs);
    this.alarm = setTimeout(() => this.lift(), Math.min(sleepMsMax, Math.max(1, dueMs - this.now())));
    this.alarm.unref();
  }

  private lift(): void {
    const due = this.list.expiring.takeDue(this.now());
    if (due.length > 0) {
      this.liftedMs = this.now();
      const tables = this.put(changeKeys(this.list, sortKeys([]), sortKeys(due)));
      this.spreadLifted?.(tables);
    }
    this.sleep();
  }

  /** Returns the changes for workers. */
  private put({ list, touched, principals }: Next): MeasureTables {
    const networks: Partial<OfActions<SharedArrayBuffer>> = {};
    for (const action of touched) networks[action] = this.tables[action] = packNetworks(list.networks[action]);
    if (networks.deny !== undefined) this.intervals = openAddressSet(networks.deny).intervals;
    this.list = list;
    this.version += 1;
    this.sleep();
    return { version: this.version, networks, principals };
  }

  /** False when the disk would not have it: the list is in force, only a restart would begin with the one before. */
  private async persist(text: Buffer): Promise<boolean> {
    try {
      await mkdir(this.dataDir, { recursive: true, mode: 0o750 });
      await writeAtomically(this.path, text);
      return true;
    } catch (error) {
      this.onProblem(`the list of measures is in force, but cannot be kept in ${this.path}: ${messageOf(error)}`);
      return false;
    }
  }
}
