// The deny list of bad addresses, main's side: checked, built into shared memory, kept on disk, and given to the
// workers by the supervisor. No recompile, no generation: a new list is one message to each worker.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../contract/errors.js';
import { sha256Of } from './artifacts.js';
import { writeAtomically } from './atomic-file.js';
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

/** One network a line; empty lines do not count. */
function* networksOf(text: string): Generator<string> {
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
  readonly entries: Networks;
  readonly networks: number;
}

/** What the gate says of its memory (admit/deny-list.ts) is made true here. */
function checkSize({ length }: Buffer): void {
  if (length > threatTextBytesMax)
    throw new RangeError(`the deny list would have ${length} bytes; at most ${threatTextBytesMax}`);
}

function readList(text: Buffer): List {
  checkSize(text);
  let networks = 0;
  const counted = function* (): Generator<string> {
    for (const network of networksOf(text.toString('latin1'))) {
      networks += 1;
      yield network;
    }
  };
  const entries = readNetworks(counted());
  return { text, sha256: sha256Of(text), entries, networks };
}

const empty = readList(Buffer.alloc(0));

export class ThreatList {
  private chain: Promise<unknown> = Promise.resolve();
  private list = empty;
  /** null: no list was given yet. */
  current: ThreatTable | null = null;
  intervals = 0;

  constructor(
    private readonly dataDir: string,
    private readonly onProblem: (message: string) => void,
  ) {}

  get sha256(): string {
    return this.list.sha256;
  }

  get networks(): number {
    return this.list.networks;
  }

  private get path(): string {
    return join(this.dataDir, 'threats.txt');
  }

  /** Takes up the list that was in force before a restart. */
  async resume(): Promise<void> {
    try {
      this.put(readList(await readFile(this.path)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return; // never had one
      this.onProblem(
        `the deny list in ${this.path} cannot be used (${messageOf(error)}); none is in force until one is sent`,
      );
    }
  }

  /**
   * The whole new list as text, one address or network a line; a wrong line refuses all of it and the old list stays.
   * `spread` gives it to the workers.
   */
  replace(text: Buffer, spread: (table: ThreatTable) => void): Promise<ThreatReply> {
    return this.inTurn(() => readList(text), spread);
  }

  /** What changed in the list that is in force; costs little however long the list is. Refused whole like a list. */
  change(delta: ThreatDelta, spread: (table: ThreatTable) => void): Promise<ThreatReply> {
    return this.inTurn(() => {
      const { text, sha256, entries, networks } = this.list;
      if (sha256 !== delta.base) return null;
      const changed = changeThreatText(text, delta.added, delta.removed);
      checkSize(changed.text);
      const next: List = {
        text: changed.text,
        sha256: sha256Of(changed.text),
        entries: changeNetworks(entries, readNetworks(changed.added), readNetworks(changed.removed)),
        networks: networks + changed.added.length - changed.removed.length,
      };
      return next.sha256 === delta.sha256 ? next : null;
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

  private put(list: List): ThreatTable {
    const table = packNetworks(list.entries);
    this.current = { version: (this.current?.version ?? 0) + 1, table };
    this.list = list;
    this.intervals = openAddressSet(table).intervals;
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
