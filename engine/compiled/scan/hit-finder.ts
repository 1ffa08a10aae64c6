// Finds, for values, the atoms that may hold on them. Values not in the memo are queued; `flush` scans all queued
// slices in ONE native call. A hit is a "maybe": the shared evaluator confirms with the real operator. What is never
// allowed is to miss an atom that holds; each shortcut below is a necessary condition, and the agreement suite
// (Hyperscan on/off, memo on/off) compares the outcome with the oracle's.
//
// Shortcuts for a value v and pipeline P:
//  - P(v) = v when no byte of v triggers any step of P (Transformation.triggers): v is scanned once, with the union
//    database of all pipelines, and a hit of P's pattern on v is a hit on P(v);
//  - equal results of several pipelines are scanned once, with the union database or, when all of them have a
//    transformation in common, with the database of the pipelines that have it (base64Decode: 30 patterns instead of
//    thousands); hits of pipelines that did not make that text are dropped;
//  - an operator is called once for a text, however many pipelines ask (multiMatch);
//  - a value made of few kinds of bytes (letters, digits, `_.-`) is scanned only for patterns that such a value can
//    match.
import type { Matcher } from '../../operators/operator.js';
import type { Scanner } from '../../native/matcher.js';
import type { PlanIR } from '../../program/plan.js';
import type { Transformation, TransformationContext } from '../../transformations/transformation.js';
import type { ByteGroups } from './byte-groups.js';
import { buildClassTable, type ClassTable, type ScanGroup } from './class-table.js';
import { hashText } from '../../parse/seen-once.js';
import { addHit, Memo, noHits, ValueRecord } from './memo.js';
import type { PatternSet } from './pattern-set.js';
import { ScanBuffer } from './scan-buffer.js';
import { ScanQueue } from './scan-queue.js';
import { TextTable } from './text-table.js';

/** Records remembered per thread; null = remember nothing (a variant that tests compare). */
export type MemoSize = {
  readonly entriesMax: number;
  readonly bytesMax: number;
  readonly valueBytesMax: number;
} | null;

export interface HitFinderParts {
  readonly plan: PlanIR;
  readonly scanner: Scanner | null; // null when the plan has no database
  readonly groups: ByteGroups;
  readonly transformations: ReadonlyMap<string, Transformation>;
  readonly context: TransformationContext;
  /** Per class, parallel to ScanClassIR.sets. */
  readonly sets: readonly (readonly PatternSet[])[];
  /** Matchers of called atoms, by atom. */
  readonly matchers: readonly (Matcher | undefined)[];
  readonly memo: MemoSize;
}

/** From this many pipelines on, one scan with the union is cheaper than one with each of their own databases. */
const sharingMin = 3;

/** About what a request brings that is new. */
const recentMax = 8;
const recentBytesMax = 4096;

export class HitFinder {
  private readonly classes: readonly ClassTable[];
  private readonly outside: readonly number[]; // per alphabet: flags of bytes outside it
  private readonly buffer: ScanBuffer;
  private readonly scans: ScanQueue;
  private readonly texts: TextTable;
  // By text of the value in hand: how many pipelines share it, and which families all of them belong to.
  private readonly sharing: Uint16Array;
  private readonly common: Int32Array;
  private readonly memo: Memo | null;
  private readonly slots: (ValueRecord | undefined)[] = [];
  private slotHits = 0;
  private readonly highMask: number; // flags of bytes ≥ 0x80
  private scanned = 0;
  private scannedBytes = 0;
  /** The last that were queued, none of them long. */
  private readonly recent: ValueRecord[] = [];
  private nextRecent = 0;
  /** Records up to this number were scanned. */
  private settled = 0;

  constructor(private readonly parts: HitFinderParts) {
    const { plan, groups, memo } = parts;
    this.memo = memo === null ? null : new Memo(memo.entriesMax, memo.bytesMax, memo.valueBytesMax);
    this.highMask = groups.maskOf(highBytes);
    this.outside = plan.alphabets.map((alphabet) => {
      const inside = new Set([...alphabet].map((character) => character.charCodeAt(0)));
      return groups.maskOf([...Array(256).keys()].filter((byte) => !inside.has(byte)));
    });
    this.buffer = new ScanBuffer(groups.bitOf);
    this.scans = new ScanQueue(
      parts.scanner,
      plan.databases.map(({ atomOf }) => atomOf),
    );
    this.texts = new TextTable(this.buffer);
    this.classes = plan.classes.map((scanClass, index) =>
      buildClassTable(scanClass, parts.sets[index] as readonly PatternSet[], parts),
    );
    const textsMax = Math.max(1, ...this.classes.map(({ steps }) => steps.length));
    this.sharing = new Uint16Array(textsMax);
    this.common = new Int32Array(textsMax);
  }

  /** The record of a value, complete only after the next `flush`. */
  find(classIndex: number, value: string): ValueRecord {
    const { memo, buffer } = this;
    const offset = buffer.take(value);
    const flags = buffer.takenFlags;
    if (memo === null || value.length > memo.valueBytesMax) return this.queue(classIndex, value, offset, flags);
    const key = memo.keyOf(buffer.takenHash, classIndex);
    const known = memo.find(classIndex, value, key);
    if (known !== undefined) {
      buffer.giveBack(offset);
      return known;
    }
    const record = this.queue(classIndex, value, offset, flags);
    // What is seen for the first time is not kept: most such values (tokens, ids) never come back, and keeping them
    // would cost more in memory and collection than scanning the others twice.
    if (memo.wasSeen(key)) memo.keep(record, key);
    return record;
  }

  /** `find` through a slot that remembers the last value asked there: the i-th header of one client rarely changes. */
  findAt(slot: number, classIndex: number, value: string): ValueRecord {
    const last = this.slots[slot];
    // A record answers for its own class only: the same bytes in another class have other atoms.
    if (last !== undefined && last.value === value && last.scanClass === classIndex && this.parts.memo !== null) {
      this.slotHits += 1;
      return last;
    }
    const record = this.find(classIndex, value);
    this.slots[slot] = record;
    return record;
  }

  /** What is known of a value: it was scanned lately, or the memo has it. Undefined: nothing, or it is forgotten. */
  peek(classIndex: number, value: string): ValueRecord | undefined {
    const { memo, recent } = this;
    if (memo === null || value.length > memo.valueBytesMax) return undefined;
    // Values of the request in hand that came for the first time are not in the memo.
    for (let index = 0; index < recent.length; index += 1) {
      const record = recent[index] as ValueRecord;
      if (record.value === value && record.scanClass === classIndex) return record;
    }
    return memo.peek(classIndex, value, memo.keyOf(hashText(value), classIndex));
  }

  /** Scans everything queued by `find`. */
  flush(): void {
    this.scans.run(this.buffer.data);
    this.buffer.clear();
    this.settled = this.scanned;
  }

  /** Nothing holds on this value, and no scan is awaited that could say otherwise. */
  isSilent(record: ValueRecord): boolean {
    return record.hits === noHits && record.number <= this.settled;
  }

  /** For metrics: values asked and found without a scan, values scanned because the memo did not know them. */
  counters(): { lookups: number; found: number; scans: number; scannedBytes: number } {
    return {
      lookups: (this.memo?.lookups ?? 0) + this.slotHits,
      found: (this.memo?.found ?? 0) + this.slotHits,
      scans: this.scanned,
      scannedBytes: this.scannedBytes,
    };
  }

  /** Asks everything about a value whose bytes lie at `offset` of the buffer. */
  private queue(classIndex: number, value: string, offset: number, flags: number): ValueRecord {
    const table = this.classes[classIndex] as ClassTable;
    this.scanned += 1;
    const record = new ValueRecord(value, classIndex, this.scanned);
    this.scannedBytes += value.length;
    if (!table.alwaysChanges && (flags & table.anyMask) === 0) {
      this.scans.add(this.databaseFor(table.union, flags), offset, value.length, record, null);
      this.askSets(table, record, value, flags);
      this.askCalled(table, record, value, flags);
    } else {
      const { steps, positions } = table.reachable.of(flags);
      this.texts.fill(table.steps, steps, value, offset, flags, this.parts.context);
      this.queueTexts(table, record, positions);
      this.askSets(table, record, null, flags);
      this.askCalled(table, record, null, flags);
    }
    // Last: of a value on which a matcher throws nothing is known.
    if (value.length <= recentBytesMax) this.keepRecent(record);
    return record;
  }

  private keepRecent(record: ValueRecord): void {
    this.recent[this.nextRecent] = record;
    this.nextRecent = (this.nextRecent + 1) % recentMax;
  }

  /**
   * Each distinct text once: the value with the union; a changed text with its pipelines' own small databases, or with
   * the union when several share it. `reachable`: positions whose text may be another one than the value.
   */
  private queueTexts(table: ClassTable, record: ValueRecord, reachable: Uint16Array): void {
    const { sharing, common, scans } = this;
    const { texts, count, offsets, flags, ofStep } = this.texts;
    const positions = table.stepOf.length;
    const textOf = scans.reservePositions(positions);
    const textAt = scans.positions;
    textAt.fill(0, textOf, textOf + positions);
    for (let text = 0; text < count; text += 1) {
      sharing[text] = 0;
      common[text] = -1;
    }
    for (let next = 0; next < reachable.length; next += 1) {
      const position = reachable[next] as number;
      const text = ofStep[table.stepOf[position] as number] as number;
      textAt[textOf + position] = text;
      if (table.groups[position] == null) continue;
      sharing[text] = (sharing[text] as number) + 1;
      common[text] = (common[text] as number) & (table.familiesOf[position] as number);
    }
    for (let text = 0; text < count; text += 1) {
      if (text > 0 && (sharing[text] as number) < sharingMin) continue;
      const families = text === 0 ? 0 : (common[text] as number);
      const group = families === 0 ? table.union : (table.families[31 - Math.clz32(families & -families)] as ScanGroup);
      scans.add(
        this.databaseFor(group, flags[text] as number),
        offsets[text] as number,
        (texts[text] as string).length,
        record,
        { table, textOf, text },
      );
    }
    for (let next = 0; next < reachable.length; next += 1) {
      const position = reachable[next] as number;
      const text = textAt[textOf + position] as number;
      const group = table.groups[position];
      if (text === 0 || group == null || (sharing[text] as number) >= sharingMin) continue;
      scans.add(
        this.databaseFor(group, flags[text] as number),
        offsets[text] as number,
        (texts[text] as string).length,
        record,
        null,
      );
    }
  }

  /** `value` = the one text of all pipelines; null = they are in `texts`. */
  private askSets(table: ClassTable, record: ValueRecord, value: string | null, flags: number): void {
    for (const { set, step, atoms, settled } of table.sets) {
      const text = value === null ? (this.texts.ofStep[step] as number) : 0;
      const own = value === null ? (this.texts.flags[text] as number) : flags;
      const alphabet = this.alphabetOf(own);
      if (alphabet !== -1 && settled[alphabet] === true) continue;
      for (const index of set.match(value ?? (this.texts.texts[text] as string), (own & this.highMask) === 0))
        addHit(record, atoms[index] as number);
    }
  }

  private askCalled(table: ClassTable, record: ValueRecord, value: string | null, flags: number): void {
    for (const { matcher, mask, atoms, steps } of table.called) {
      let asked = -1;
      let answer = false;
      for (let index = 0; index < atoms.length; index += 1) {
        const text = value === null ? (this.texts.ofStep[steps[index] as number] as number) : 0;
        if (text !== asked) {
          asked = text;
          answer =
            (mask === -1 || ((value === null ? (this.texts.flags[text] as number) : flags) & mask) !== 0) &&
            matcher.matches(value ?? (this.texts.texts[text] as string));
        }
        if (answer) addHit(record, atoms[index] as number);
      }
    }
  }

  private alphabetOf(flags: number): number {
    const { outside } = this;
    for (let index = 0; index < outside.length; index += 1)
      if ((flags & (outside[index] as number)) === 0) return index;
    return -1;
  }

  private databaseFor(group: ScanGroup, flags: number): number {
    const alphabet = this.alphabetOf(flags);
    return alphabet === -1 ? group.database : (group.byAlphabet[alphabet] as number);
  }
}

export const highBytes: readonly number[] = [...Array(256).keys()].filter((byte) => byte >= 0x80);
