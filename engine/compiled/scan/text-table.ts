// What the pipelines of a scan class make of one value. Most pipelines leave most values alone and many agree on the
// rest, so the table holds DISTINCT texts: [0] is the value itself; each step of each pipeline points at one of them. A
// transformation runs at most once per distinct text, however many pipelines share it.
import type { Transformation, TransformationContext } from '../../transformations/transformation.js';

/** A node of the trie of pipelines: one transformation behind a parent step. */
export interface PipelineStep {
  readonly parent: number;
  readonly transformation: Transformation;
  /** Number of the transformation, below `transformationsMax`. */
  readonly kind: number;
  /** Flags of which one must be set for a change; -1 = any text may change. */
  readonly mask: number;
}

export const transformationsMax = 64;
/** Above every index of a text; there are no more texts than steps. */
const textsMax = 1 << 16;
/** Characters; a text may be kept until the next value comes. */
const largeText = 4096;

export class TextTable {
  /** The first `count` are of this value; what is behind them is left from values before. */
  readonly texts: string[] = [];
  count = 0;
  flags = new Int32Array(64);
  offsets = new Int32Array(64);
  /** Step → index into `texts`. */
  ofStep = new Uint16Array(64);
  /**
   * Text and transformation → index of the text that it makes of it, plus the number of the value in hand in the upper
   * bits: what is left from values before is known by another number, and nothing has to be cleared.
   */
  private applied = new Float64Array(64 * transformationsMax);
  private valueNumber = 0;
  private holdsLarge = false;

  /** `take` copies a new text to the scanner's buffer, returns its offset and leaves its flags in `takenFlags`. */
  constructor(private readonly sink: { take(text: string): number; takenFlags: number }) {}

  /**
   * Fills the table; steps[0] is the identity. `reachable`: of `steps` those that may change this value, or come behind
   * one that may (reachable-steps.ts).
   */
  fill(
    steps: readonly PipelineStep[],
    reachable: Uint16Array,
    value: string,
    offset: number,
    flags: number,
    context: TransformationContext,
  ): void {
    if (this.ofStep.length < steps.length) {
      this.ofStep = new Uint16Array(steps.length);
      this.flags = new Int32Array(steps.length);
      this.offsets = new Int32Array(steps.length);
      this.applied = new Float64Array(steps.length * transformationsMax);
    }
    const { texts, ofStep, applied } = this;
    // Shortening an array is a call into the runtime; only large texts are worth it, which must not stay alive.
    if (this.holdsLarge) texts.length = 0;
    this.holdsLarge = value.length > largeText;
    this.count = 1;
    texts[0] = value;
    this.flags[0] = flags;
    this.offsets[0] = offset;
    ofStep.fill(0, 0, steps.length);
    this.valueNumber += 1;
    const own = this.valueNumber * textsMax;
    for (let next = 0; next < reachable.length; next += 1) {
      const index = reachable[next] as number;
      const step = steps[index] as PipelineStep;
      const before = ofStep[step.parent] as number;
      if (step.mask !== -1 && ((this.flags[before] as number) & step.mask) === 0) {
        ofStep[index] = before;
        continue;
      }
      const at = before * transformationsMax + step.kind;
      const noted = applied[at] as number;
      if (noted >= own) {
        ofStep[index] = noted - own;
        continue;
      }
      const after = this.indexOf(step.transformation.apply(texts[before] as string, context));
      applied[at] = own + after;
      ofStep[index] = after;
    }
  }

  private indexOf(text: string): number {
    const { texts, count } = this;
    for (let index = 0; index < count; index += 1) if (texts[index] === text) return index;
    const index = count;
    this.count = count + 1;
    texts[index] = text;
    if (text.length > largeText) this.holdsLarge = true;
    this.offsets[index] = this.sink.take(text);
    this.flags[index] = this.sink.takenFlags;
    return index;
  }
}
