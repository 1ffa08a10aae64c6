// Who needs whom among the built files, for choosing the tests of a change.
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { builtFiles } from './selection.js';

/** Built file → the built files that it imports; paths relative to the root. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const imported = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*)["'`]([#.][^"'`]+)["'`]/g;

/** Where a door of package.json leads; null = to no file of the house. */
function resolveDoor(specifier: string, doors: Readonly<Record<string, string>>): string | null {
  const exact = doors[specifier];
  if (exact !== undefined) return normalize(exact);
  for (const [door, to] of Object.entries(doors)) {
    const start = door.slice(0, -1);
    if (door.endsWith('/*') && specifier.startsWith(start))
      return normalize(to.replace('*', specifier.slice(start.length)));
  }
  return null;
}

export function readImports(root: string): ImportGraph {
  const { imports: doors = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly imports?: Readonly<Record<string, string>>;
  };
  return new Map(
    builtFiles(root).map((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const targets = [...text.matchAll(imported)].flatMap(([, specifier = '']) => {
        const to = specifier.startsWith('.') ? join(dirname(file), specifier) : resolveDoor(specifier, doors);
        return to === null ? [] : [to];
      });
      return [file, targets];
    }),
  );
}

export const builtFrom = (source: string): string => join('build', source.replace(/\.ts$/, '.js'));

/** Those of `tests` that are a changed file, stand beside it under its name, or import it themselves. */
export function nearTests(tests: readonly string[], changed: readonly string[], graph: ImportGraph): string[] {
  const files = new Set(changed);
  return tests.filter(
    (test) =>
      files.has(test) ||
      files.has(test.replace(/\.test\.js$/, '.js')) ||
      (graph.get(test) ?? []).some((target) => files.has(target)),
  );
}

/** Those of `tests` that need a changed file, however far away. */
export function allTestsOf(tests: readonly string[], changed: readonly string[], graph: ImportGraph): string[] {
  const users = new Map<string, string[]>();
  for (const [file, targets] of graph)
    for (const target of targets) users.set(target, [...(users.get(target) ?? []), file]);
  const found = new Set(changed);
  for (const file of found) for (const user of users.get(file) ?? []) found.add(user); // a Set grows while it is walked
  return tests.filter((test) => found.has(test));
}
