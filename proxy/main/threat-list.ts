// The deny list of bad addresses, main's side: checked, built into shared memory, kept on disk, and given to the
// workers by the supervisor. No recompile, no generation: a new list is one message to each worker. What ends is lifted
// here when it ends, whether or not a control plane can be reached, and also after a restart.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../contract/errors.js';
import { sha256Of } from './artifacts.js';
import { writeAtomically } from './atomic-file.js';
import { ExpiringNetworks, readListed } from '../shared-state/expiring-networks.js';
import { openAddressSet, packNetworks } from '../shared-state/address-set.js';
import { changeNetworks, readNetworks, type Networks } from '../shared-state/networks.js';
import {
  changeThreatText,
  threatTextBytesMax,
  type ThreatDelta,
  type ThreatTable,
} from '../shared-state/threat-delta.js';

export type ThreatReply =
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

interface List {
  readonly text: Buffer;
  /** Of the text: how a sender sees whether this node has the list it means. */
  readonly sha256: string;
  /** In force: what is over is in the text and not here. */
  readonly entries: Networks;
  /** Lines of the text. */
  readonly lines: number;
  readonly expiring: ExpiringNetworks;
}

/** What the gate says of its memory (admit/deny-list.ts) is made true here. */
function checkSize({ length }: Buffer): void {
  if (length > threatTextBytesMax)
    throw new RangeError(`the deny list would have ${length} bytes; at most ${threatTextBytesMax}`);
}

function readList(text: Buffer, nowMs: number): List {
  checkSize(text);
  const listed = [...linesOf(text.toString('latin1'))].map(readListed);
  const expiring = new ExpiringNetworks();
  const entries = readNetworks(expiring.add(listed, nowMs));
  return { text, sha256: sha256Of(text), entries, lines: listed.length, expiring };
}

/**
 * At most so often a table is built because something ended: with a million networks that takes main some 50 ms. What
 * ends in between waits for the next one, so a ban lasts at most this much too long.
 */
const liftEveryMs = 250;
/** A timer that is longer overflows. */
const sleepMsMax = 3_600_000;

const emptyList = (): List => readList(Buffer.alloc(0), 0);

export class ThreatList {
  private chain: Promise<unknown> = Promise.resolve();
  private list = emptyList();
  private alarm: NodeJS.Timeout | undefined;
  private spreadLifted: ((table: ThreatTable) => void) | null = null;
  private liftedMs = -Infinity;
  /** null: no list was given yet. */
  current: ThreatTable | null = null;
  intervals = 0;

  constructor(
    private readonly dataDir: string,
    private readonly onProblem: (message: string) => void,
    private readonly now: () => number = Date.now,
  ) {}

  get sha256(): string {
    return this.list.sha256;
  }

  /** In force. */
  get networks(): number {
    return this.list.lines - this.list.expiring.overCount;
  }

  private get path(): string {
    return join(this.dataDir, 'threats.txt');
  }

  /** Takes up the list that was in force before a restart. */
  async resume(): Promise<void> {
    try {
      this.put(readList(await readFile(this.path), this.now()));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return; // never had one
      this.onProblem(
        `the deny list in ${this.path} cannot be used (${messageOf(error)}); none is in force until one is sent`,
      );
    }
  }

  /**
   * The whole new list as text, one address or network a line, with the end of its ban where it has one; a wrong line
   * refuses all of it and the old list stays. `spread` gives it to the workers.
   */
  replace(text: Buffer, spread: (table: ThreatTable) => void): Promise<ThreatReply> {
    return this.inTurn(() => readList(text, this.now()), spread);
  }

  /** What changed in the list that is in force; costs little however long the list is. Refused whole like a list. */
  change(delta: ThreatDelta, spread: (table: ThreatTable) => void): Promise<ThreatReply> {
    return this.inTurn(() => {
      const { text, sha256, entries, lines, expiring } = this.list;
      if (sha256 !== delta.base) return null;
      const changed = changeThreatText(text, delta.added, delta.removed);
      checkSize(changed.text);
      const changedSha256 = sha256Of(changed.text);
      if (changedSha256 !== delta.sha256) return null;
      const listed = changed.added.map(readListed);
      readNetworks(listed.map(({ network }) => network)); // whatever is wrong is said before anything is touched
      const gone = readNetworks(expiring.remove(changed.removed));
      const come = readNetworks(expiring.add(listed, this.now()));
      return {
        text: changed.text,
        sha256: changedSha256,
        entries: changeNetworks(entries, come, gone),
        lines: lines + changed.added.length - changed.removed.length,
        expiring,
      };
    }, spread);
  }

  /** One after the other; `next` null: the list that is in force is not the one that was meant. */
  private inTurn(next: () => List | null, spread: (table: ThreatTable) => void): Promise<ThreatReply> {
    const turn = this.chain.then(async (): Promise<ThreatReply> => {
      try {
        const list = next();
        if (list === null) return { outcome: 'mismatch', sha256: this.sha256 };
        spread(this.put(list));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return { outcome: 'refused', reason: error.message };
      }
      const { sha256, networks, intervals } = this;
      return { outcome: 'active', sha256, networks, intervals, isPersisted: await this.persist(this.list.text) };
    });
    this.chain = turn.catch(() => undefined); // the caller of `turn` hears of it; the next in line must still run
    return turn;
  }

  /** From now on what ends is lifted when it ends; `spread` gives the list without it to the workers. */
  watch(spread: (table: ThreatTable) => void): void {
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
      const entries = changeNetworks(this.list.entries, readNetworks([]), readNetworks(due));
      const table = this.put({ ...this.list, entries });
      this.spreadLifted?.(table);
    }
    this.sleep();
  }

  private put(list: List): ThreatTable {
    const table = packNetworks(list.entries);
    this.current = { version: (this.current?.version ?? 0) + 1, table };
    this.list = list;
    this.intervals = openAddressSet(table).intervals;
    this.sleep();
    return this.current;
  }

  /** False when the disk would not have it: the list is in force, only a restart would begin with the one before. */
  private async persist(text: Buffer): Promise<boolean> {
    try {
      await mkdir(this.dataDir, { recursive: true, mode: 0o750 });
      await writeAtomically(this.path, text);
      return true;
    } catch (error) {
      this.onProblem(`the deny list is in force, but cannot be kept in ${this.path}: ${messageOf(error)}`);
      return false;
    }
  }
}
