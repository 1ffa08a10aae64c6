// Which steps of a class's pipelines can make something else of a value at all, by the kinds of bytes that it holds:
// most values trigger a few of several dozen transformations, and the others need not be walked. Kinds repeat, so that
// the answer is remembered.
import type { PipelineStep } from './text-table.js';

export interface Reachable {
  /** Steps that may change the value, and all that come behind one of them, in the order of the trie. */
  readonly steps: Uint16Array;
  /** Pipeline positions at whose end is such a step; the text of all others is the value itself. */
  readonly positions: Uint16Array;
}

/** Sets of flags that are remembered for a class; a client that sends all kinds of values costs the others nothing. */
const rememberedMax = 1024;

export class ReachableSteps {
  private known = new Map<number, Reachable>();
  private readonly asked: number;

  /** `stepOf`: pipeline position → step at its end. */
  constructor(
    private readonly steps: readonly PipelineStep[],
    private readonly stepOf: readonly number[],
  ) {
    this.asked = steps.reduce((mask, step) => (step.mask === -1 ? mask : mask | step.mask), 0);
  }

  /** `flags`: byte groups of the value (byte-groups.ts). */
  of(flags: number): Reachable {
    const key = flags & this.asked;
    const before = this.known.get(key);
    if (before !== undefined) return before;
    if (this.known.size >= rememberedMax) this.known = new Map();
    const found = this.find(key);
    this.known.set(key, found);
    return found;
  }

  private find(flags: number): Reachable {
    const may = [false];
    for (let index = 1; index < this.steps.length; index += 1) {
      const { parent, mask } = this.steps[index] as PipelineStep;
      may[index] = may[parent] === true || mask === -1 || (flags & mask) !== 0;
    }
    const within = (steps: readonly number[]): Uint16Array =>
      Uint16Array.from([...steps.keys()].filter((at) => may[steps[at] as number] === true));
    return { steps: within([...this.steps.keys()]), positions: within(this.stepOf) };
  }
}
