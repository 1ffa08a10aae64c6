// Long work in turns: others have theirs in between.
const turnMs = 15;

export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Calls `work` of each, in order. A list may grow while it is read. */
export async function each<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let began = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - began < turnMs) continue;
    await pause();
    began = performance.now();
  }
}
