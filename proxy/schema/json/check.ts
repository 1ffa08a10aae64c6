// The contract of the checks that schemas become: plain closures over values that JSON.parse made. A schema is data of
// people, so no text of it is ever run as a program: ajv's standalone code was weighed, and would have to be evaluated
// on every worker (docs/adr/0009-schemas-as-closures.md).

/** What went wrong, and where. One for each check of a request, reused by all closures. */
export class Trace {
  /** The keyword that did not hold. */
  keyword = '';
  /** From the value that failed outwards: names of members and indices. */
  path: (string | number)[] = [];
  /** References and alternatives that were tried. */
  private steps = 0;
  private isSpent = false;
  depth = 0;

  fail(keyword: string): false {
    this.keyword = keyword;
    this.path = [];
    return false;
  }

  /** A failure of a member, seen from the value that has it. */
  within(name: string | number): false {
    this.path.push(name);
    return false;
  }

  /** False when a schema that contains itself, over a value made for it, would cost more than a request may. */
  step(): boolean {
    this.steps += 1;
    if (this.steps > stepsMax || this.depth > depthMax) this.isSpent = true;
    return !this.isSpent;
  }

  /** The answer of a whole check. One that ran out of its budget is no, also where a `not` made a yes of it. */
  holds(check: Check, value: unknown): boolean {
    this.keyword = '';
    const fits = check(value, this);
    return this.isSpent ? this.fail('budget') : fits;
  }

  /** RFC 6901, below what was checked. */
  get pointer(): string {
    return this.path
      .map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .reverse()
      .join('');
  }
}

/** About 20 ms of one worker. */
const stepsMax = 200_000;
const depthMax = 400;

/** True: the value fits. False: `trace` says why not. */
export type Check = (value: unknown, trace: Trace) => boolean;

export type JsonMap = { readonly [name: string]: unknown };

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const always: Check = () => true;

/** Every one in turn; the shortest closure for few. */
export function allOf(checks: readonly Check[]): Check {
  const [first, second, third] = checks;
  if (first === undefined) return always;
  if (second === undefined) return first;
  if (third === undefined) return (value, trace) => first(value, trace) && second(value, trace);
  return (value, trace) => {
    for (const check of checks) if (!check(value, trace)) return false;
    return true;
  };
}
