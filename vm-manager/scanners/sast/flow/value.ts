// What is known of a value while a program is followed: its constant, what of it came from outside and by which way,
// its parts, what kind of thing it is.
import type { Const, Fn, ClassOf } from '../syntax/ir.js';
import type { Scope } from './scope.js';

export interface Step {
  readonly line: number;
  readonly what: string;
}

export interface Taint {
  /** What it is, for people: `query parameter of the request`. */
  readonly what: string;
  /** Name of the part that was taken: `id`. */
  readonly part: string;
  readonly line: number;
  readonly steps: readonly Step[];
  /** Bits of harms that it can do no more. */
  readonly cured: number;
  /** It may be a record, not only a text. */
  readonly isRecord: boolean;
}

export interface Closure {
  readonly fn: Fn;
  readonly scope: Scope;
  readonly self: Val | null;
}

export interface Val {
  readonly constant?: Const;
  readonly taints: readonly Taint[];
  /** Qualified name of what it is: `child_process.exec`, `Statement`, `express.req`. */
  readonly kind: string;
  readonly closure: Closure | null;
  readonly classOf: ClassOf | null;
  /** Known parts by name or place; `*`: those whose name is unknown. */
  readonly parts: ReadonlyMap<string, Val> | null;
  /** Of a text that is put together: its constant beginning, and all constant text before the first foreign part. */
  readonly prefix: string;
  readonly isList: boolean;
  /** Of a list: none of it is unknown. */
  readonly isText: boolean;
}

export const empty: Val = {
  taints: [],
  kind: '',
  closure: null,
  classOf: null,
  parts: null,
  prefix: '',
  isList: false,
  isText: false,
};

export const isConst = (value: Val): boolean => value.constant !== undefined;
// written out: a spread for each constant of a file is what costs most
export const constant = (value: Const): Val => ({
  constant: value,
  taints: empty.taints,
  kind: '',
  closure: null,
  classOf: null,
  parts: null,
  prefix: typeof value === 'string' ? value : String(value),
  isList: false,
  isText: typeof value === 'string',
});
export const ofKind = (kind: string): Val => ({ ...empty, kind });

const taintsMax = 4;

export const isSameOrigin = (left: Taint, right: Taint): boolean =>
  left.what === right.what && left.part === right.part && (left.line === right.line || left.part !== '');

const stepsMax = 16;

export function mergedTaints(left: readonly Taint[], right: readonly Taint[]): readonly Taint[] {
  if (right.length === 0 || left === right) return left;
  if (left.length === 0) return right;
  const all = [...left];
  for (const one of right) {
    const at = all.findIndex((known) => isSameOrigin(known, one));
    const known = all[at];
    if (known === undefined) {
      if (all.length < taintsMax) all.push(one);
    } else if (known !== one)
      all[at] = { ...known, cured: known.cured & one.cured, isRecord: known.isRecord || one.isRecord };
  }
  return all;
}

/** All taints of a value, those of its parts, too. */
export function taintsOf(value: Val, depth = 0): readonly Taint[] {
  if (value.parts === null || depth > 4) return value.taints;
  let all = value.taints;
  for (const part of value.parts.values()) all = mergedTaints(all, taintsOf(part, depth + 1));
  return all;
}

export function stepped(taints: readonly Taint[], line: number, what: string): readonly Taint[] {
  if (taints.length === 0) return taints;
  return taints.map((one) => {
    const last = one.steps[one.steps.length - 1];
    if ((last?.line ?? one.line) === line || one.steps.length >= stepsMax) return one;
    return { ...one, steps: [...one.steps, { line, what }] };
  });
}

export function cured(value: Val, bits: number): Val {
  const taints = taintsOf(value);
  if (taints.length === 0) return value;
  return {
    ...value,
    parts: null,
    taints: taints.map((one) => ({ ...one, cured: one.cured | bits })),
  };
}

export const asText = (value: Val): Val =>
  value.taints.some(({ isRecord }) => isRecord)
    ? { ...value, taints: value.taints.map((one) => ({ ...one, isRecord: false })) }
    : value;

const commonPrefix = (left: string, right: string): string => {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return left.slice(0, length);
};

/** Where two ways meet: one or the other. */
export function joined(left: Val, right: Val): Val {
  if (left === right) return left;
  const isSame = left.constant !== undefined && left.constant === right.constant;
  let parts: Map<string, Val> | null = null;
  if (left.parts !== null || right.parts !== null) {
    parts = new Map(left.parts ?? []);
    for (const [key, part] of right.parts ?? []) {
      const known = parts.get(key);
      parts.set(key, known === undefined ? part : joinedShallow(known, part));
    }
  }
  return {
    ...(isSame ? { constant: left.constant } : {}),
    taints: mergedTaints(left.taints, right.taints),
    kind: left.kind === '' ? right.kind : left.kind,
    closure: left.closure ?? right.closure,
    classOf: left.classOf ?? right.classOf,
    parts,
    prefix: left === empty ? right.prefix : right === empty ? left.prefix : commonPrefix(left.prefix, right.prefix),
    isList: left.isList || right.isList,
    isText: left.isText && right.isText,
  };
}

const joinedShallow = (left: Val, right: Val): Val =>
  left === right
    ? left
    : {
        ...left,
        ...(left.constant === right.constant ? {} : { constant: undefined as never }),
        taints: mergedTaints(taintsOf(left), taintsOf(right)),
        parts: left.parts === right.parts ? left.parts : null,
        prefix: commonPrefix(left.prefix, right.prefix),
      };
