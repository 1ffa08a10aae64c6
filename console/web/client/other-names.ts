// Names of what one answer did not hold, each asked for when it is first to be shown.
import { createSignal } from 'solid-js';

/** `ask` answers null where there is none, and may throw Refused: undefined is what is known then. */
export function createOtherNames(ask: (id: string) => Promise<string | null>): (id: string) => string | undefined {
  const [names, setNames] = createSignal<ReadonlyMap<string, string>>(new Map());
  const asked = new Set<string>();
  const read = async (id: string): Promise<void> => {
    const name = await ask(id).catch(() => null);
    if (name !== null) setNames((all) => new Map(all).set(id, name));
  };
  return (id) => {
    if (!asked.has(id)) {
      asked.add(id);
      void read(id);
    }
    return names().get(id);
  };
}
