// What the command palette finds in addition to pages: applications, findings, vulnerabilities, components and
// operations, by a word, as far as the user sees them.
import { createEffect, createSignal, on, onCleanup, type Accessor } from 'solid-js';
import { call, Refused, type Reply } from '../client/http.js';
import { shellText as words } from '../texts/shell.js';
import type { Command } from './commands.js';

/** Shorter words are in everything. */
const lettersMin = 3;
const pauseMs = 250;
const ofKindMax = 5;

type Found = Reply<'GET /api/v1/search'>;
type Hit = Found['findings'][number];

const at = (path: string, name: string, value: string): string => `${path}${name}=${encodeURIComponent(value)}`;

const places: Readonly<Record<keyof Found, (hit: Hit) => string>> = {
  applications: ({ id }) => at('/vulnerabilities/applications?', 'application', id),
  findings: ({ id }) => at('/vulnerabilities?status=all&', 'finding', id),
  vulnerabilities: ({ id }) => at('/vulnerabilities?', 'cve', id),
  components: ({ id }) => at('/vulnerabilities/components?', 'component', id),
  operations: ({ title }) => at('/inventory?', 'q', title.split(' ')[1] ?? ''),
};

const commandsOf = (found: Found, navigate: (path: string) => void): readonly Command[] =>
  (Object.keys(places) as (keyof Found)[]).flatMap((kind) =>
    found[kind].slice(0, ofKindMax).map((hit) => ({
      title: hit.about === '' ? hit.title : `${hit.title} · ${hit.about}`.slice(0, 140),
      group: words.things[kind],
      words: '',
      run: () => navigate(places[kind](hit)),
    })),
  );

/** Asked a moment after the last key; what was found for another word is gone at once. */
export function createThings(text: Accessor<string>, navigate: (path: string) => void): Accessor<readonly Command[]> {
  const [things, setThings] = createSignal<readonly Command[]>([]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  const ask = async (q: string, mine: number): Promise<void> => {
    try {
      const found = await call('GET /api/v1/search', { query: { q } });
      if (mine === asked) setThings(commandsOf(found, navigate));
    } catch (error) {
      if (!(error instanceof Refused)) throw error; // who may not search finds pages all the same
    }
  };
  createEffect(
    on(text, (typed) => {
      clearTimeout(timer);
      asked += 1;
      setThings([]);
      const [q, mine] = [typed.trim(), asked];
      if (q.length >= lettersMin && q.length <= 100) timer = setTimeout(() => void ask(q, mine), pauseMs);
    }),
  );
  onCleanup(() => clearTimeout(timer));
  return things;
}
