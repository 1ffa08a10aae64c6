// What rules are called, for pages that know their numbers only. Those that are asked for within one turn are asked of
// the control plane together, and each of them once.
import { createSignal } from 'solid-js';
import { call } from './http.js';

/** As many as one request takes. */
const batchMax = 200;

const [names, setNames] = createSignal<ReadonlyMap<number, string>>(new Map());
const asked = new Set<number>();
const waiting = new Set<number>();

async function askWaiting(): Promise<void> {
  const ids = [...waiting].slice(0, batchMax);
  for (const id of ids) waiting.delete(id);
  if (waiting.size > 0) queueMicrotask(() => void askWaiting());
  try {
    const { items } = await call('GET /api/rules/names', { query: { ids: ids.join(',') } });
    setNames((before) => new Map([...before, ...items.map(({ rule_id, name }): [number, string] => [rule_id, name])]));
  } catch {
    for (const id of ids) asked.delete(id); // the numbers stay as they are; the next page asks again
  }
}

/** Its name, once it is known; '': not yet, or it has none. Reading it where something is drawn draws it again then. */
export function nameOfRule(id: number): string {
  if (!asked.has(id)) {
    asked.add(id);
    if (waiting.size === 0) queueMicrotask(() => void askWaiting());
    waiting.add(id);
  }
  return names().get(id) ?? '';
}
