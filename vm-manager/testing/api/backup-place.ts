// A place of backups in memory, with tools that a test tells what to answer.
import { Readable } from 'node:stream';

export function memoryPlace() {
  const files = new Map<string, number>();
  const asked: unknown[] = [];
  let count = 0;
  const state = {
    files,
    asked,
    fails: null as Error | null,
    hindrance: null as string | null,
    finish: Promise.resolve(),
    found: { secrets: 'opened' as 'opened' | 'sealed' | 'absent', hindrance: null as string | null },
    outcome: null as null | { name: string; by: string; asked_at: string; ended_at: string; ok: boolean; said: string },
    add: (isSealed = false): string => {
      const name = `gatehouse-2026030${1 + count++}T120000Z.tar${isSealed ? '.age' : ''}`;
      files.set(name, 1000 + count);
      return name;
    },
  };
  const tools = {
    place: () => '/copies',
    hindrance: () => state.hindrance,
    list: async () => [...files].map(([name, bytes]) => ({ name, bytes })),
    verify: async (name: string, given: string | null) => {
      asked.push(['verify', name, given]);
      await state.finish;
      if (state.fails !== null) throw state.fails;
      const told = { created_at: '2026-03-01T12:00:00Z', release: '1.0.0', database: 'embedded' as const };
      return { ...told, tables: 3, rows: 99, entries: 5, restored: true, ...state.found };
    },
    fetch: async (name: string) => {
      asked.push(['fetch', name]);
      if (state.fails !== null) throw state.fails;
      return Readable.from([Buffer.alloc(files.get(name) ?? 0, 'x')]);
    },
    remove: async (name: string) => void files.delete(name),
    prune: async (keep: number) => {
      const old = [...files.keys()].slice(0, -keep);
      for (const name of old) files.delete(name);
      return old;
    },
    restore: async (wish: object) => void asked.push(['restore', wish]),
    takeOutcome: async () => state.outcome,
  };
  return { ...state, state, tools };
}
