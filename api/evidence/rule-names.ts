// What rules are called, so that nobody has to know them by their numbers: what a rule of the rule set says of itself
// (its `msg`), the name that a person gave, the weakness that a patch is against.
import { diskReader, loadCoreRuleSet, namesOfRules } from '#compiler';
import { ruleIdRanges, type Settings } from '#settings';
import { readManagedRules } from '../change/steps/managed-rules.js';
import type { Queryable } from '../db/client.js';
import type { Parts } from '../parts.js';
import { patchCatalog } from '../vpatch/catalog/index.js';

/** Of rules that stand for what a gate decides: no rule set has them, and nodes say them in their own events. */
const gateNames: readonly (readonly [id: number, name: string])[] = [
  [ruleIdRanges.threatIntelligence[0], 'Client address on the deny list'],
  [1_006_001, 'The principal has a verdict'],
  [1_006_100, 'Flood protection'],
  [1_006_101, 'Rate limit of a zone'],
  [1_006_102, 'Rate limit of an endpoint'],
  [1_006_103, 'Attack mode'],
  [1_006_104, 'Slowed down by the detection engine'],
  [1_006_200, 'The client is banned'],
  [1_006_201, 'No ban: many clients behind one address'],
  [1_006_210, 'Requests like this one ended workers'],
  [1_006_300, 'The client has to answer a challenge'],
  [1_006_400, 'Bot score'],
  [1_006_401, 'A crawler that is not who it says'],
  [1_006_402, 'TLS client on the list of refused JA3'],
  [1_006_500, 'The request does not fit its specification'],
  [1_006_501, 'The answer does not fit its specification'],
  [1_006_502, 'The path is not declared'],
  [1_006_510, 'GraphQL introspection'],
  [1_006_511, 'GraphQL beyond its limits'],
  [1_006_512, 'GraphQL that cannot be read'],
  [1_006_610, 'Signs of an attack in values that no rule scores'],
];

/** Names by rule id, of everything that may trip under these settings. */
export type RuleNames = (sql: Queryable, settings: Settings) => Promise<ReadonlyMap<number, string>>;

/** Read when somebody first asks, and again when another rule set is in use: it takes a tenth of a second. */
function createCoreNames(ruleSets: Parts['ruleSets']): () => ReadonlyMap<number, string> {
  let known: { readonly directory: string; readonly names: ReadonlyMap<number, string> } | null = null;
  return () => {
    const directory = ruleSets.directory();
    if (directory === null) return new Map();
    if (known?.directory !== directory) {
      const { crs } = loadCoreRuleSet(directory, diskReader);
      const files = crs === null ? [] : [...crs.pluginsBefore, ...crs.rules, ...crs.pluginsAfter];
      known = { directory, names: namesOfRules(files) };
    }
    return known.names;
  };
}

/** Of the catalogue and of the managed feed, whose patches need no entry in the settings. */
async function namesOfPatches(sql: Queryable, settings: Settings): Promise<[number, string][]> {
  const { delivered } = await readManagedRules(sql, settings);
  return [...patchCatalog, ...delivered].map(({ id, cve, title }) => [id, `${cve} ${title}`]);
}

export function createRuleNames(ruleSets: Parts['ruleSets']): RuleNames {
  const coreNames = createCoreNames(ruleSets);
  return async (sql, settings) => {
    const known = new Map([...coreNames(), ...(await namesOfPatches(sql, settings))]);
    return new Map([
      ...known,
      ...gateNames,
      ...settings.custom_rules.map(({ id, name }): [number, string] => [id, name]),
      ...settings.virtual_patches.map(({ id, cve, name }): [number, string] => [id, name || (known.get(id) ?? cve)]),
    ]);
  };
}
