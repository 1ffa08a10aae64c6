// Work that takes tens of milliseconds, with places where its thread may do something else. The engine has no clock and
// waits for nothing: whoever drives the steps decides when to pause between two of them.

/** Each `yield` is a place to pause at; the value is that of the whole. Driven to its end, or it throws. */
export type Steps<Value> = Generator<undefined, Value, undefined>;

/** All of it at once. Throws what a step throws. */
export function finishSteps<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
