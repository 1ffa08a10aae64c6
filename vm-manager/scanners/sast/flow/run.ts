// One file while it is followed: what every part of the follower shares. The parts know each other through it only.
import type { Call, ClassOf, Expr, Stmt } from '../syntax/ir.js';
import type { Prepared } from './prepared.js';
import { Scope } from './scope.js';
import type { Closure, Step, Val } from './value.js';

/** How a block was left; `return` stands for every way out of the function. */
export type End = 'next' | 'break' | 'return';

export interface Flow {
  readonly rule: string;
  readonly line: number;
  readonly message: string;
  /** Of a flow: source, steps, sink. */
  readonly path: readonly Step[];
  readonly severity?: 'low' | 'medium';
}

/** A function takes more steps than it may. */
export class TooIntricate extends Error {}

const entryStepsMax = 120_000;
const fileStepsMax = 500_000;
export const inlineDepthMax = 4;
const flowsMax = 500;

export interface Frame {
  readonly closure: Closure | null;
  returned: Val | null;
}

export class Run {
  scope = new Scope(null);
  readonly table: Prepared;
  readonly classes = new Map<string, { readonly of: ClassOf; readonly scope: Scope }>();
  /** Variable → what it was made of, where that may be a test. */
  readonly tests = new Map<string, Expr>();
  /** Functions that were met: each is followed by itself once. */
  readonly pending: Closure[] = [];
  readonly frames: Frame[] = [];
  readonly flows = new Map<string, Flow>();
  /** A function was not followed to its end. */
  isCut = false;
  /** What of a page stands before the program's next output (PHP). */
  html = '';
  evaluate: (of: Expr) => Val = () => {
    throw new Error('no evaluator');
  };
  execute: (body: readonly Stmt[]) => End = () => {
    throw new Error('no executor');
  };
  call: (closure: Closure, args: readonly Val[], names: ReadonlyMap<string, Val>, line: number) => Val = () => {
    throw new Error('no caller');
  };
  assign: (to: Expr, value: Val, line: number) => void = () => {
    throw new Error('no assigner');
  };
  typed: (value: Val, type: string) => Val = (value) => value;
  /** What a method made of its object. */
  lastSelf: Val | null = null;
  evaluateCall: (call: Call) => Val = () => {
    throw new Error('no caller');
  };
  #entrySteps = 0;
  #fileSteps = 0;

  constructor(table: Prepared) {
    this.table = table;
  }

  spend(): void {
    if (++this.#entrySteps > entryStepsMax || ++this.#fileSteps > fileStepsMax) throw new TooIntricate();
  }

  /** Follows one function or the file itself; what takes too long is cut and told. */
  entry(work: () => void): void {
    this.#entrySteps = 0;
    const { scope } = this;
    const { length } = this.frames;
    try {
      work();
    } catch (error) {
      if (!(error instanceof TooIntricate || error instanceof RangeError)) throw error;
      this.isCut = true;
    } finally {
      this.scope = scope;
      this.frames.length = length;
    }
  }

  /** Each place once a rule; the shorter way counts. */
  tell(flow: Flow): void {
    const key = `${flow.rule} ${flow.line}`;
    const known = this.flows.get(key);
    if (known === undefined ? this.flows.size < flowsMax : flow.path.length < known.path.length)
      this.flows.set(key, flow);
  }

  within<Result>(scope: Scope, work: () => Result): Result {
    const before = this.scope;
    this.scope = scope;
    try {
      return work();
    } finally {
      this.scope = before;
    }
  }
}
