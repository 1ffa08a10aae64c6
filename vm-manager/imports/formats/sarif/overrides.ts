// What a run of SARIF says of its rules beside their defaults: `ruleConfigurationOverrides` of its invocations
// (2.1.0, 3.20.5, 3.51). A result without a level has that of the rule as it ran (3.27.10).
import { at, list, num, obj, str, type Json } from '../../normalize.js';
import { readSeverity } from '../../severity/read.js';
import { toolScales } from '../../severity/words.js';
import { componentOf, type Component, type Run } from '../sarif-run.js';

interface Override {
  /** Which of the invocations says it. */
  readonly invocation: number;
  readonly configuration: Json;
}
/** By the rule where the run lists it, else by its id. */
type Overrides = ReadonlyMap<Json | string, readonly Override[]>;
/** Of the effective configuration (3.50). */
export interface Configured {
  readonly level: unknown;
  readonly rank: number | null;
}

const read = new WeakMap<Json, Overrides>();
const idsOf = new WeakMap<Component, ReadonlyMap<string, Json>>();
const invocationsOf = ({ properties }: Run): readonly Json[] => list(properties['invocations']).map(obj);

function ruleById(component: Component, id: string): Json | undefined {
  let ids = idsOf.get(component);
  if (ids === undefined)
    idsOf.set(component, (ids = new Map(component.rules.map((rule) => [str(rule['id']), rule] as const).reverse())));
  return ids.get(id);
}

/** The rule that a descriptor means (3.52), by id, guid or index in its component; else its id. */
function descriptorOf(descriptor: Json, run: Run): Json | string {
  const named = descriptor['toolComponent'];
  const all = [run.driver, ...run.extensions];
  const component = named === undefined ? run.driver : componentOf(named, all, run.extensions);
  const [id, guid] = [str(descriptor['id']), str(descriptor['guid']).toLowerCase()];
  const ofComponent = component === null || id === '' ? undefined : ruleById(component, id);
  const byGuid = guid === '' ? undefined : component?.rules.find((rule) => str(rule['guid']).toLowerCase() === guid);
  // ids that no rule of the component has may be of another one: results find it there, too
  const elsewhere = named === undefined && id !== '' ? run.byId.get(id) : undefined;
  const byIndex = id === '' ? component?.rules[num(descriptor['index']) ?? -1] : undefined;
  return ofComponent ?? byGuid ?? elsewhere ?? byIndex ?? id;
}

function overridesOf(run: Run): Overrides {
  const known = read.get(run.properties);
  if (known !== undefined) return known;
  const made = new Map<Json | string, Override[]>();
  for (const [invocation, one] of invocationsOf(run).entries())
    for (const given of list(one['ruleConfigurationOverrides']).map(obj)) {
      const key = descriptorOf(obj(given['descriptor']), run);
      const all = made.get(key) ?? [];
      all.push({ invocation, configuration: obj(given['configuration']) });
      made.set(key, all);
    }
  read.set(run.properties, made);
  return made;
}

/** Ids of a result from the whole to the beginnings: `a/b/c`, `a/b`, `a` (3.27.5). */
function* idsFrom(id: string): Generator<string> {
  for (let rest = id; rest !== ''; rest = rest.slice(0, Math.max(0, rest.lastIndexOf('/')))) yield rest;
}

const gravity = ['info', 'low', 'medium', 'high', 'critical'];
const gravityOf = (level: unknown): number =>
  gravity.indexOf(readSeverity(level, { scale: toolScales.sarif, ifAbsent: 'medium' }).severity);
const graver = (left: unknown, right: unknown): unknown => (gravityOf(right) > gravityOf(left) ? right : left);
const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/**
 * Level and rank of the rule as it ran for this result. The invocation is the one that the result names; of several
 * that it could be of, the gravest counts.
 */
export function configuredFor(result: Json, rule: Json, run: Run): Configured {
  const defaults = obj(rule['defaultConfiguration']);
  const [level, rank] = [defaults['level'], num(defaults['rank'])];
  const overrides = overridesOf(run);
  if (overrides.size === 0) return { level, rank };
  const ids = [...idsFrom(str(result['ruleId']) || str(at(result, 'rule', 'id')))];
  const all = [rule, ...ids].flatMap((key) => overrides.get(key) ?? []);
  const named = num(at(result, 'provenance', 'invocationIndex')) ?? -1;
  const count = invocationsOf(run).length;
  const asked = named >= 0 && named < count ? [named] : [...Array(count).keys()];
  const ofEach = asked.map((index): Configured => {
    const said = all.filter(({ invocation }) => invocation === index).map(({ configuration }) => configuration);
    const levels = said.map((one) => one['level']).filter(isGiven);
    const ranks = said.flatMap((one) => num(one['rank']) ?? []);
    return {
      level: levels.length === 0 ? level : levels.reduce(graver),
      rank: ranks.length === 0 ? rank : Math.max(...ranks),
    };
  });
  const ranks = ofEach.flatMap((one) => one.rank ?? []);
  return {
    level: ofEach.map((one) => one.level).reduce(graver),
    rank: ranks.length === 0 ? null : Math.max(...ranks),
  };
}

/**
 * Ids of rules that an invocation had turned off (`enabled`, 3.50.2): their silence proves nothing. Of a run whose
 * writer lists overrides, also those that are off by default and that none turns on; others do not tell what they do.
 */
export function turnedOff(run: Run): ReadonlySet<string> {
  const overrides = overridesOf(run);
  const off = new Set<string>();
  const idOf = (key: Json | string): string => (typeof key === 'string' ? key : str(key['id']));
  for (const [key, all] of overrides)
    if (all.some(({ configuration }) => configuration['enabled'] === false)) off.add(idOf(key));
  if (overrides.size > 0)
    for (const rule of [run.driver, ...run.extensions].flatMap(({ rules }) => rules))
      if (at(rule, 'defaultConfiguration', 'enabled') === false)
        if (!(overrides.get(rule) ?? []).some(({ configuration }) => configuration['enabled'] !== false))
          off.add(str(rule['id']));
  off.delete('');
  return off;
}

/** Whether a finding of this rule is of one that was off, or of a part of it. */
export const isOff = (off: ReadonlySet<string>, ruleId: string): boolean =>
  [...idsFrom(ruleId)].some((id) => off.has(id));
