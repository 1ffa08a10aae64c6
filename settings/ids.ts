// Ids that nobody has to think of: an entry of a list of rules that has none gets one. That of a rule's own text, or of
// the catalogue, comes first; else it is the first of its range that is free.
import { isFields, type Renamed } from './names.js';
import { ruleIdRanges } from './rows/categories.js';

type Fields = Readonly<Record<string, unknown>>;

/** Who knows ids that an entry has although it does not say so; the first is the entry's. */
export interface IdSources {
  /** Of the rules in a text of somebody's own. */
  readonly inText: (seclang: string) => readonly number[];
  /** Of a vulnerability in the catalogue of virtual patches. */
  readonly ofCve: (cve: string) => readonly number[];
}

/** The catalogue counts from the beginning of the range, and the managed feed has its last hundred. */
const ownPatchIds = [ruleIdRanges.virtualPatches[0] + 500, ruleIdRanges.virtualPatches[0] + 899] as const;

interface ListOfRules {
  readonly name: 'custom_rules' | 'virtual_patches' | 'rule_exclusions';
  readonly range: readonly [number, number];
  readonly free: readonly [number, number];
  readonly known: (entry: Fields, sources: IdSources) => readonly number[];
}

const inTextOf = (entry: Fields, { inText }: IdSources): readonly number[] =>
  typeof entry['seclang'] === 'string' && entry['kind'] !== 'visual' ? inText(entry['seclang']) : [];

const lists: readonly ListOfRules[] = [
  { name: 'custom_rules', range: ruleIdRanges.custom, free: ruleIdRanges.custom, known: inTextOf },
  {
    name: 'virtual_patches',
    range: ruleIdRanges.virtualPatches,
    free: ownPatchIds,
    known: (entry, sources) => [
      ...inTextOf(entry, sources),
      ...(typeof entry['cve'] === 'string' ? sources.ofCve(entry['cve']) : []),
    ],
  },
  { name: 'rule_exclusions', range: ruleIdRanges.ruleExclusions, free: ruleIdRanges.ruleExclusions, known: () => [] },
];

function withIdsIn(
  list: ListOfRules,
  given: readonly unknown[],
  sources: IdSources,
  notes: Renamed['notes'][number][],
) {
  const { range, free, known } = list;
  const used = new Set<unknown>();
  for (const entry of given)
    if (isFields(entry)) for (const id of [entry['id'], ...('id' in entry ? known(entry, sources) : [])]) used.add(id);
  return given.map((entry, index) => {
    if (!isFields(entry) || 'id' in entry) return entry;
    const own = known(entry, sources).find((id) => id >= range[0] && id <= range[1]);
    let id = own ?? free[0];
    while (own === undefined && used.has(id)) id += 1;
    if (id > range[1]) return entry; // all are taken: the check says that the id is missing
    used.add(id);
    notes.push({ path: `/${list.name}/${index}/id`, note: `was not given and is ${id}` });
    return { id, ...entry };
  });
}

/** `value` with an id for every entry that has none; anything that is not of the expected shape stays as it is. */
export function withIds(value: unknown, sources: IdSources): Renamed {
  if (!isFields(value)) return { value, notes: [] };
  const notes: Renamed['notes'][number][] = [];
  const completed: Record<string, unknown> = { ...value };
  for (const list of lists) {
    const given = value[list.name];
    if (Array.isArray(given)) completed[list.name] = withIdsIn(list, given, sources, notes);
  }
  return { value: completed, notes };
}
