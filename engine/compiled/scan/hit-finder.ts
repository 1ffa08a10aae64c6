// Finds, for values, the atoms that may hold on them. Values not in the memo are queued; `flush` scans all queued
// slices in ONE native call. A hit is a "maybe": the shared evaluator confirms with the real operator. What is never
// allowed is to miss an atom that holds; each shortcut below is a necessary condition, and the ladder suite (Hyperscan
// on/off, memo on/off) compares the outcome with the oracle's.
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
import { writeLatin1 } from '../../parse/latin1.js';
import type { Matcher } from '../../operators/operator.js';
import type { Scanner } from '../../native/matcher.js';
import type { GroupIR, PlanIR, ScanClassIR } from '../../program/plan.js';
import type { Transformation, TransformationContext } from '../../transformations/transformation.js';
import type { ByteGroups } from './byte-groups.js';
import { hashByte, hashText, Memo, noHits, ValueRecord } from './memo.js';
import { TextTable, type PipelineStep } from './text-table.js';

/** A compiled RE2 set: indexes of the patterns that occur in a latin1 text. */
export interface PatternSet {
  match(text: string, isAscii: boolean): readonly number[];
}

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
  readonly memo: { readonly entriesMax: number; readonly bytesMax: number; readonly valueBytesMax: number } | null;
}

/** A union job on a text that only some pipelines make: hits of the others' patterns do not count. */
interface SharedText {
  readonly table: ClassTable;
  /** Where in the finder's `positions` the texts of that value's pipeline positions begin. */
  readonly textOf: number;
  readonly text: number;
}
const positionsStart = 4096;
/** Storage for this many jobs is kept between flushes. */
const jobsKeptMax = 1024;
/** From this many pipelines on, one scan with the union is cheaper than one with each of their own databases. */
const sharingMin = 3;

interface ScanGroup {
  readonly database: number;
  readonly byAlphabet: readonly number[];
}

interface ClassTable {
  readonly steps: readonly PipelineStep[]; // [0] is the identity and unused
  /** Pipeline position in this class → step whose text it scans; position 0 = identity. */
  readonly stepOf: readonly number[];
  readonly anyMask: number;
  readonly alwaysChanges: boolean;
  readonly union: ScanGroup;
  readonly groups: readonly (ScanGroup | null)[]; // by pipeline position
  readonly families: readonly ScanGroup[];
  /** Pipeline position → bits of the families that it belongs to. */
  readonly familiesOf: Int32Array;
  /** Atom → pipeline position in this class (-1 = not of this class). */
  readonly positionOf: Int16Array;
  readonly sets: readonly {
    readonly set: PatternSet;
    readonly step: number;
    readonly atoms: readonly number[];
    readonly settled: readonly boolean[];
  }[];
  readonly called: readonly Called[];
}

/** One operator and argument, asked behind several pipelines. */
interface Called {
  readonly matcher: Matcher;
  readonly mask: number; // -1 = any text
  readonly atoms: readonly number[];
  readonly steps: readonly number[]; // parallel
}

export class HitFinder {
  private readonly classes: readonly ClassTable[];
  private readonly bitOf: Int32Array;
  private readonly outside: readonly number[]; // per alphabet: flags of bytes outside it
  private readonly atomOf: readonly (readonly number[])[];
  private data = Buffer.allocUnsafe(64 * 1024);
  private dataBytes = 0;
  private jobs = new Int32Array(3 * 256);
  private jobCount = 0;
  private hits = new Int32Array(2 * 1024);
  private readonly jobRecord: ValueRecord[] = [];
  private readonly jobShared: (SharedText | null)[] = [];
  /** Text of each pipeline position, one run per changed value of this flush. */
  private positions = new Uint16Array(positionsStart);
  private positionsUsed = 0;
  private readonly texts: TextTable;
  // By text of the value in hand: how many pipelines share it, and which families all of them belong to.
  private readonly sharing: Uint16Array;
  private readonly common: Int32Array;
  takenFlags = 0;
  /** Hash of the text that `take` copied last. */
  private hash = 0;
  private readonly memo: Memo | null;
  private readonly slots: (ValueRecord | undefined)[] = [];
  private slotHits = 0;
  private readonly highMask: number; // flags of bytes ≥ 0x80
  /** Values scanned because the memo did not know them; for metrics. */
  scans = 0;
  scannedBytes = 0;

  constructor(private readonly parts: HitFinderParts) {
    this.bitOf = parts.groups.bitOf;
    this.memo =
      parts.memo === null ? null : new Memo(parts.memo.entriesMax, parts.memo.bytesMax, parts.memo.valueBytesMax);
    this.highMask = parts.groups.maskOf(highBytes);
    this.outside = parts.plan.alphabets.map((alphabet) => {
      const inside = new Set([...alphabet].map((character) => character.charCodeAt(0)));
      return parts.groups.maskOf([...Array(256).keys()].filter((byte) => !inside.has(byte)));
    });
    this.texts = new TextTable(this);
    this.atomOf = parts.plan.databases.map((database) => database.atomOf);
    this.classes = parts.plan.classes.map((scanClass, index) => this.buildClass(scanClass, index));
    const textsMax = Math.max(1, ...this.classes.map(({ steps }) => steps.length));
    this.sharing = new Uint16Array(textsMax);
    this.common = new Int32Array(textsMax);
  }

  /** The record of a value, complete only after the next `flush`. */
  find(classIndex: number, value: string): ValueRecord {
    const { memo } = this;
    const offset = this.take(value);
    const flags = this.takenFlags;
    if (memo === null || value.length > memo.valueBytesMax) return this.queue(classIndex, value, offset, flags);
    const key = memo.keyOf(this.hash, classIndex);
    const known = memo.find(classIndex, value, key);
    if (known !== undefined) {
      this.dataBytes = offset; // its copy is not needed
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

  /** What the memo knows of a value; undefined when it was never seen or is forgotten. */
  peek(classIndex: number, value: string): ValueRecord | undefined {
    const { memo } = this;
    if (memo === null || value.length > memo.valueBytesMax) return undefined;
    return memo.peek(classIndex, value, memo.keyOf(hashText(value), classIndex));
  }

  /** Scans everything queued by `find`. */
  flush(): void {
    if (this.jobCount === 0) {
      this.dataBytes = 0;
      return;
    }
    const { jobCount } = this;
    const scanner = this.parts.scanner as Scanner;
    let found = scanner.scan(this.data, this.jobs, jobCount, this.hits);
    while (found < 0) {
      this.hits = new Int32Array(2 * Math.max(this.hits.length, -1 - found + 64));
      found = scanner.scan(this.data, this.jobs, jobCount, this.hits);
    }
    for (let pair = 0; pair < found; pair += 1)
      this.takeHit(this.hits[2 * pair] as number, this.hits[2 * pair + 1] as number);
    this.jobCount = 0;
    this.dataBytes = 0;
    this.positionsUsed = 0;
    if (jobCount > jobsKeptMax) {
      this.jobRecord.length = 0;
      this.jobShared.length = 0;
      this.positions = new Uint16Array(positionsStart);
    }
    if (this.data.length > 1 << 20) this.data = Buffer.allocUnsafe(64 * 1024);
  }

  memoCounters(): { lookups: number; found: number } {
    return { lookups: (this.memo?.lookups ?? 0) + this.slotHits, found: (this.memo?.found ?? 0) + this.slotHits };
  }

  private takeHit(job: number, pattern: number): void {
    const database = this.jobs[3 * job] as number;
    const atom = (this.atomOf[database] as readonly number[])[pattern] as number;
    const shared = this.jobShared[job] as SharedText | null;
    if (shared !== null && this.positions[shared.textOf + (shared.table.positionOf[atom] as number)] !== shared.text)
      return;
    addHit(this.jobRecord[job] as ValueRecord, atom);
  }

  /** Asks everything about a value whose bytes `take` put at `offset`. */
  private queue(classIndex: number, value: string, offset: number, flags: number): ValueRecord {
    const table = this.classes[classIndex] as ClassTable;
    const record = new ValueRecord(value, classIndex);
    this.scans += 1;
    this.scannedBytes += value.length;
    if (!table.alwaysChanges && (flags & table.anyMask) === 0) {
      this.addJob(this.databaseFor(table.union, flags), offset, value.length, record, null);
      this.askSets(table, record, value, flags);
      this.askCalled(table, record, value, flags);
    } else {
      this.texts.fill(table.steps, value, offset, flags, this.parts.context);
      this.queueTexts(table, record);
      this.askSets(table, record, null, flags);
      this.askCalled(table, record, null, flags);
    }
    return record;
  }

  /**
   * Each distinct text once: the value with the union; a changed text with its pipelines' own small databases, or with
   * the union when several share it.
   */
  private queueTexts(table: ClassTable, record: ValueRecord): void {
    const { texts, count, offsets, flags, ofStep } = this.texts;
    const positions = table.stepOf.length;
    const textOf = this.reservePositions(positions);
    const textAt = this.positions;
    const { sharing, common } = this;
    for (let text = 0; text < count; text += 1) {
      sharing[text] = 0;
      common[text] = -1;
    }
    for (let position = 0; position < positions; position += 1) {
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
      this.addJob(
        this.databaseFor(group, flags[text] as number),
        offsets[text] as number,
        (texts[text] as string).length,
        record,
        { table, textOf, text },
      );
    }
    for (let position = 1; position < positions; position += 1) {
      const text = textAt[textOf + position] as number;
      const group = table.groups[position];
      if (text === 0 || group == null || (sharing[text] as number) >= sharingMin) continue;
      this.addJob(
        this.databaseFor(group, flags[text] as number),
        offsets[text] as number,
        (texts[text] as string).length,
        record,
        null,
      );
    }
  }

  private reservePositions(count: number): number {
    const at = this.positionsUsed;
    if (at + count > this.positions.length) {
      const larger = new Uint16Array(2 * (at + count));
      larger.set(this.positions);
      this.positions = larger;
    }
    this.positionsUsed = at + count;
    return at;
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

  private addJob(
    database: number,
    offset: number,
    length: number,
    record: ValueRecord,
    shared: SharedText | null,
  ): void {
    if (database === -1) return;
    const at = 3 * this.jobCount;
    if (at + 3 > this.jobs.length) {
      const larger = new Int32Array(2 * this.jobs.length);
      larger.set(this.jobs);
      this.jobs = larger;
    }
    this.jobs[at] = database;
    this.jobs[at + 1] = offset;
    this.jobs[at + 2] = length;
    this.jobCount += 1;
    this.jobRecord[this.jobCount - 1] = record;
    this.jobShared[this.jobCount - 1] = shared;
  }

  /**
   * Copies a text into the scan buffer, leaves the OR of its bytes' group bits in `takenFlags` and its hash in `hash`,
   * returns its offset.
   */
  take(text: string): number {
    const { length } = text;
    const offset = this.dataBytes;
    if (offset + length > this.data.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.data.length, offset + length));
      this.data.copy(larger, 0, 0, offset);
      this.data = larger;
    }
    const { data, bitOf } = this;
    let flags = 0;
    let hash = length;
    if (length <= 48) {
      // Below this a loop beats the call into the runtime.
      for (let index = 0; index < length; index += 1) {
        const byte = text.charCodeAt(index) & 255;
        data[offset + index] = byte;
        flags |= bitOf[byte] as number;
        hash = hashByte(hash, byte);
      }
    } else {
      writeLatin1(data, text, offset);
      const end = offset + length;
      for (let index = offset; index < end; index += 1) {
        const byte = data[index] as number;
        flags |= bitOf[byte] as number;
        hash = hashByte(hash, byte);
      }
    }
    this.takenFlags = flags;
    this.hash = hash;
    this.dataBytes = offset + length;
    return offset;
  }

  private buildClass(scanClass: ScanClassIR, index: number): ClassTable {
    const { plan, groups } = this.parts;
    const steps: PipelineStep[] = [{ parent: 0, transformation: identity, kind: 0, mask: 0 }];
    const kinds = new Map<string, number>();
    const byPath = new Map<string, number>([['', 0]]);
    const stepOfPipeline = (pipeline: number): number => {
      let path = '';
      let step = 0;
      for (const name of plan.pipelines[pipeline] as readonly string[]) {
        path += `,${name}`;
        const known = byPath.get(path);
        if (known !== undefined) {
          step = known;
          continue;
        }
        const transformation = this.parts.transformations.get(name);
        if (transformation === undefined)
          throw new Error(
            `the plan names an unknown transformation "${name}": the artifact is of another version, compile it again`,
          );
        if (!kinds.has(name)) kinds.set(name, kinds.size);
        steps.push({
          parent: step,
          transformation,
          kind: kinds.get(name) as number,
          mask: transformation.triggers === null ? -1 : groups.maskOf(transformation.triggers),
        });
        step = steps.length - 1;
        byPath.set(path, step);
      }
      return step;
    };
    const pipelines = [0];
    const positionOfPipeline = (pipeline: number): number => {
      const at = pipelines.indexOf(pipeline);
      if (at !== -1) return at;
      pipelines.push(pipeline);
      return pipelines.length - 1;
    };
    const positionOf = new Int16Array(plan.atoms.length).fill(-1);
    const place = (atom: number): number =>
      (positionOf[atom] = positionOfPipeline((plan.atoms[atom] as { pipeline: number }).pipeline));
    for (const group of [scanClass.union, ...scanClass.groups])
      if (group.database !== -1) for (const atom of this.atomOf[group.database] as readonly number[]) place(atom);
    const sets = scanClass.sets.map((set, at) => {
      for (const atom of set.atoms) place(atom);
      return {
        set: (this.parts.sets[index] as readonly PatternSet[])[at] as PatternSet,
        step: stepOfPipeline(set.pipeline),
        atoms: set.atoms,
        settled: set.settledByAlphabet,
      };
    });
    const called = scanClass.called.map(({ atom, pipeline, neededBytes }) => {
      place(atom);
      return {
        atom,
        step: stepOfPipeline(pipeline),
        mask: neededBytes === null ? -1 : groups.maskOf(neededBytes),
        matcher: this.parts.matchers[atom] as Matcher,
      };
    });
    const groupAt = (position: number): ScanGroup | null => {
      const found: GroupIR | undefined = scanClass.groups.find((group) => group.pipeline === pipelines[position]);
      return found === undefined ? null : { database: found.database, byAlphabet: found.byAlphabet };
    };
    const stepOf = pipelines.map(stepOfPipeline);
    const { families } = scanClass;
    const familyBits = (pipeline: number): number =>
      families.reduce(
        (bits, { transformation }, index) =>
          (plan.pipelines[pipeline] as readonly string[]).includes(transformation) ? bits | (1 << index) : bits,
        0,
      );
    return {
      steps,
      stepOf,
      anyMask: steps.reduce((mask, step) => (step.mask === -1 ? mask : mask | step.mask), 0),
      alwaysChanges: steps.some((step) => step.mask === -1),
      union: { database: scanClass.union.database, byAlphabet: scanClass.union.byAlphabet },
      groups: pipelines.map((_, position) => (position === 0 ? null : groupAt(position))),
      families: families.map(({ group }) => ({ database: group.database, byAlphabet: group.byAlphabet })),
      familiesOf: Int32Array.from(pipelines, familyBits),
      positionOf,
      sets,
      called: gatherCalled(called),
    };
  }
}

export const highBytes: readonly number[] = [...Array(256).keys()].filter((byte) => byte >= 0x80);
const identity: Transformation = { name: 'none', apply: (value) => value, triggers: [] };

/** Atoms whose matcher is the same one are asked together. */
function gatherCalled(
  list: readonly { readonly atom: number; readonly step: number; readonly mask: number; readonly matcher: Matcher }[],
): Called[] {
  const found = new Map<Matcher, { matcher: Matcher; mask: number; atoms: number[]; steps: number[] }>();
  for (const { atom, step, mask, matcher } of list) {
    let called = found.get(matcher);
    if (called === undefined) found.set(matcher, (called = { matcher, mask, atoms: [], steps: [] }));
    called.atoms.push(atom);
    called.steps.push(step);
  }
  return [...found.values()];
}

function addHit(record: ValueRecord, atom: number): void {
  if (record.hits === noHits) record.hits = [atom];
  else if (!record.hits.includes(atom)) (record.hits as number[]).push(atom);
}
