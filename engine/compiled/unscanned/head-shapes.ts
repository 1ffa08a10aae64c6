// Most checks of phase 1 read the method, the protocol and a few headers that a client sends unchanged in every request
// (Accept, User-Agent, Content-Type …). A head's SHAPE is exactly what those checks read; requests of one shape get the
// same answers, so they are worked out once per shape and a transaction visits only the rules that are left.
//
// Safe because a shape is compared whole, never by its hash alone: method and protocol as text, and of each header that
// some check reads its name and its ValueRecord's number, in order. A number stands for one text for ever; whatever the
// memo forgets and learns again gets a new one.
import type { Transaction } from '../../transaction/transaction.js';
import type { UnscannedRule, UnscannedRules } from './unscanned-rules.js';

export interface HeadShape {
  readonly method: string;
  readonly protocol: string;
  /** Header (index into UnscannedRules.headerNames), record number, header, … in order of arrival. */
  readonly fields: Float64Array;
  /** By phase: the rules that are left to visit. */
  readonly unscanned: readonly (readonly UnscannedRule[])[];
}

/** A power of two: browsers, crawlers and API clients of one moment, times a handful of methods. */
const shapesMax = 256;
/** Heads with more such headers than this have no shape. */
const fieldsMax = 64;

export class HeadShapes {
  private readonly shapes: (HeadShape | null)[] = new Array<HeadShape | null>(shapesMax).fill(null);
  private readonly indexOf: ReadonlyMap<string, number>;
  private readonly fields = new Float64Array(2 * fieldsMax);
  private used = 0;
  /** The i-th header of one client rarely changes its name: last name seen there, and what it is. */
  private readonly lastNames: string[] = [];
  private readonly lastIndexes: number[] = [];

  constructor(private readonly rules: UnscannedRules) {
    this.indexOf = new Map(rules.headerNames.map((name, index) => [name, index]));
  }

  begin(): void {
    this.used = 0;
  }

  /** A request header at `position`, whose value has the record of this number. */
  add(position: number, name: string, record: number): void {
    let index: number;
    if (position < fieldsMax && this.lastNames[position] === name) index = this.lastIndexes[position] as number;
    else {
      index = this.indexOf.get(name.toLowerCase()) ?? -1;
      if (position < fieldsMax) {
        this.lastNames[position] = name;
        this.lastIndexes[position] = index;
      }
    }
    if (index === -1) return;
    const at = 2 * this.used;
    this.used += 1;
    if (this.used > fieldsMax) return;
    this.fields[at] = index;
    this.fields[at + 1] = record;
  }

  /** After all headers were added. Null = too many of them. */
  find(transaction: Transaction): HeadShape | null {
    const { fields, used } = this;
    if (used > fieldsMax) return null;
    const { method, protocol } = transaction.request;
    let hash = method.length + (method === '' ? 0 : method.charCodeAt(0) << 5);
    for (let index = 0; index < 2 * used; index += 1) hash = (Math.imul(hash, 31) + (fields[index] as number)) | 0;
    const slot = (hash ^ (hash >>> 12)) & (shapesMax - 1);
    const known = this.shapes[slot];
    if (known != null && known.method === method && known.protocol === protocol && this.isSame(known.fields))
      return known;
    const made: HeadShape = {
      method,
      protocol,
      fields: fields.slice(0, 2 * used),
      unscanned: this.leftFor(transaction),
    };
    this.shapes[slot] = made;
    return made;
  }

  private isSame(known: Float64Array): boolean {
    const { fields, used } = this;
    if (known.length !== 2 * used) return false;
    for (let index = 0; index < known.length; index += 1) if (known[index] !== fields[index]) return false;
    return true;
  }

  private leftFor(transaction: Transaction): readonly (readonly UnscannedRule[])[] {
    const { afterHead, headChecks } = this.rules;
    return afterHead.map((list, phase) =>
      list.filter((_, index) => {
        const check = headChecks[phase]?.[index] ?? null;
        return check === null || check(transaction);
      }),
    );
  }
}
