// The settings as a person is editing them. One draft for the whole console: pages change parts of it, one save sends
// what differs as a merge patch under the ETag it was read with. When somebody else saved meanwhile, nothing is
// overwritten: the draft is laid over theirs, and what both changed is shown. What is stored may also be read anew
// under a draft (another page is opened): the ETag is that of the last reading, and each edit knows what it was typed
// over.
import { batch, createMemo, createSignal } from 'solid-js';
import { ask, Refused, type FieldProblem } from './http.js';
import type { QueryState } from './query.js';

export type SettingsValues = Readonly<Record<string, unknown>>;

export interface Conflict {
  readonly name: string;
  readonly mine: unknown;
  readonly theirs: unknown;
}

const [base, setBase] = createSignal<SettingsValues | null>(null);
const [etag, setEtag] = createSignal<string | null>(null);
const [edits, setEdits] = createSignal<SettingsValues>({});
const [problems, setProblems] = createSignal<readonly FieldProblem[]>([]);
const [conflicts, setConflicts] = createSignal<readonly Conflict[]>([]);
/** Of every edit, the value that it was typed over: what is stored may be read anew while something is typed. */
const [typedOver, setTypedOver] = createSignal<SettingsValues>({});
const [loadProblem, setLoadProblem] = createSignal<Refused | null>(null);
const [isLoading, setLoading] = createSignal(false);

export { problems, conflicts };

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What is saved, with the edits over it. */
export const draft = createMemo<SettingsValues | null>(() => {
  const saved = base();
  return saved === null ? null : { ...saved, ...edits() };
});
export const saved = base;
/** Names of settings that differ from what is saved. */
export const changed = createMemo<readonly string[]>(() => {
  const before = base();
  return before === null ? [] : Object.keys(edits()).filter((name) => !isSame(edits()[name], before[name]));
});

export async function loadSettings(): Promise<void> {
  setLoading(true);
  try {
    const { data, etag: tag } = await ask('GET /api/settings');
    batch(() => {
      setBase(data as SettingsValues);
      setEtag(tag);
      setLoadProblem(null);
    });
  } catch (error) {
    setLoadProblem(error as Refused);
  } finally {
    setLoading(false);
  }
}

/** The draft as what is read, for pages that show nothing without it. */
export const settingsRead: QueryState<SettingsValues> = {
  data: () => draft() ?? undefined,
  etag,
  isAnswered: () => base() !== null,
  problem: loadProblem,
  isLoading,
  reload: loadSettings,
};

export function edit(name: string, value: unknown): void {
  setTypedOver((all) => (Object.hasOwn(all, name) ? all : { ...all, [name]: base()?.[name] }));
  setEdits((all) => ({ ...all, [name]: value }));
  setProblems((all) => all.filter(({ path }) => !path.startsWith(`/${name}`)));
}

const without = (all: SettingsValues, names: readonly string[]): SettingsValues =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));

/** Gives up edits: what is stored, as it was read last, is shown instead. */
export function discard(names: readonly string[] = Object.keys(edits())): void {
  setEdits((all) => without(all, names));
  setTypedOver((all) => without(all, names));
  setProblems([]);
  setConflicts([]);
}

/** RFC 7396: members that are gone are null, arrays are sent whole. */
export function mergePatch(from: unknown, to: unknown): unknown {
  if (!isFields(from) || !isFields(to)) return to;
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (!(name in to)) patch[name] = null;
    else if (!isSame(from[name], to[name])) patch[name] = mergePatch(from[name], to[name]);
  }
  return patch;
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What of `names` somebody else has changed, too, and otherwise: since it was typed over, as was read last. */
function conflictsOf(names: readonly string[]): readonly Conflict[] {
  const [mine, theirs, before] = [edits(), base() ?? {}, typedOver()];
  return names
    .filter((name) => !isSame(before[name], theirs[name]) && !isSame(mine[name], theirs[name]))
    .map((name) => ({ name, mine: mine[name], theirs: theirs[name] }));
}

/**
 * Saves `only` (or all edits). True when it is saved; false when it was refused (`problems`) or somebody else was
 * faster (`conflicts`). Throws Refused for anything else.
 */
export async function save(only: readonly string[] = changed()): Promise<boolean> {
  const before = base();
  if (before === null || only.length === 0) return true;
  setConflicts(conflictsOf(only));
  if (conflicts().length > 0) return false;
  const body = Object.fromEntries(only.map((name) => [name, mergePatch(before[name], edits()[name])]));
  try {
    const { data, etag: tag } = await ask('PATCH /api/settings', { body, ifMatch: etag() });
    batch(() => {
      setBase(data as SettingsValues);
      setEtag(tag);
      discard(only);
    });
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 412) return saveOverTheirs(only);
    if (error.errors.length === 0 && error.diagnostics.length === 0) throw error;
    const found = error.diagnostics.map((one) => ({ path: one.path ?? '', reason: one.message, fix: one.hint ?? '' }));
    setProblems([...error.errors, ...found]);
    return false;
  }
}

const attemptsMax = 3;

/**
 * Saves a change without the draft: what `change` makes of the stored settings, again where another editor was faster.
 * Throws Refused.
 */
export async function saveChange(change: (stored: SettingsValues) => SettingsValues): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const stored = await ask('GET /api/settings');
    const body = change(stored.data);
    try {
      const { data, etag: tag } = await ask('PATCH /api/settings', { body, ifMatch: stored.etag });
      batch(() => {
        setBase(data as SettingsValues);
        setEtag(tag);
      });
      return;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 412 || attempt === attemptsMax) throw error;
    }
  }
}

/** Somebody else saved since this was read: once more over theirs, where the two did not change the same. */
async function saveOverTheirs(only: readonly string[]): Promise<boolean> {
  await loadSettings();
  const refused = loadProblem();
  if (refused !== null) throw refused;
  return save(only);
}

/** Nothing is chosen yet: the draft stays as it was typed, and saving it asks again. */
export const leaveConflicts = (): void => void setConflicts([]);

/** Of a conflict: `mine` is kept and will be saved over theirs, or given up. */
export async function resolveConflicts(keep: 'mine' | 'theirs'): Promise<void> {
  const found = conflicts();
  setConflicts([]);
  if (keep === 'theirs') return discard(found.map(({ name }) => name));
  // typed over theirs from here on: a third one's change is a conflict of its own
  setTypedOver((all) => ({ ...all, ...Object.fromEntries(found.map(({ name, theirs }) => [name, theirs])) }));
  await save(changed());
}
