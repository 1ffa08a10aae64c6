// Which constant SecActions may really move to load time. A candidate always runs, in phase 1, and only writes
// constants to TX. It moves when nobody who stays can tell: no staying item touches its keys before its last write, and
// none walks over them (TX:/^name/), because the variables of the load come first in the order of a walk.
import { bindTarget, type LinkIR, type Program, type RuleIR, type Template } from '#engine/compile';

export interface Write {
  readonly key: string;
  /** null: the variable is unset. */
  readonly value: string | null;
}

/** `hoistable`: candidates with their writes in order; `dead`: items that never run. */
export function settleHoists(
  program: Program,
  hoistable: ReadonlyMap<number, readonly Write[]>,
  dead: ReadonlySet<number>,
): { items: ReadonlySet<number>; tx: ReadonlyMap<string, string> } {
  const candidates = new Map(hoistable);
  for (;;) {
    const staying = program.items.filter(
      (item): item is RuleIR => item.kind === 'rule' && !dead.has(item.index) && !candidates.has(item.index),
    );
    const used = new Map<string, number>(); // key → earliest position of an item that stays and touches it
    let anyKey = Number.POSITIVE_INFINITY;
    for (const item of staying) {
      const place = item.phase * 1e7 + item.index;
      const touched = touchedKeys(item);
      if (touched === null) anyKey = Math.min(anyKey, place);
      else for (const key of touched) used.set(key, Math.min(used.get(key) ?? Number.POSITIVE_INFINITY, place));
    }
    const walks = walkedKeys(staying);
    const lastWrite = new Map<string, number>();
    for (const [index, writes] of candidates)
      for (const { key } of writes) lastWrite.set(key, Math.max(lastWrite.get(key) ?? 0, 1e7 + index));
    const refused = [...candidates].filter(([, writes]) =>
      writes.some(
        ({ key }) =>
          (used.get(key) ?? anyKey) < (lastWrite.get(key) as number) ||
          anyKey < (lastWrite.get(key) as number) ||
          walks.some((takes) => takes(key)),
      ),
    );
    if (refused.length === 0) break;
    for (const [index] of refused) candidates.delete(index);
  }
  const tx = new Map<string, string>();
  for (const [, writes] of [...candidates].sort(([a], [b]) => a - b)) {
    for (const { key, value } of writes) {
      if (value === null) tx.delete(key);
      else tx.set(key, value);
    }
  }
  return { items: new Set(candidates.keys()), tx };
}

/** What the staying rules' walks over TX take, by key; counting is no walk: it has no order. */
function walkedKeys(rules: readonly RuleIR[]): ((key: string) => boolean)[] {
  return rules.flatMap((rule) =>
    rule.links.flatMap((link: LinkIR) =>
      link.targets
        .filter((target) => target.variable === 'TX' && !target.count && target.selector?.kind !== 'name')
        .map((target) => {
          const { regex } = bindTarget(target);
          return (key: string) => regex === null || regex.matches(key);
        }),
    ),
  );
}

/** TX keys that a rule reads or writes; null = any (regex selectors, whole collection, keys made from macros). */
function touchedKeys(rule: RuleIR): ReadonlySet<string> | null {
  const keys = new Set<string>();
  let any = false;
  const template = (parts: Template | null | undefined): void => {
    for (const part of parts ?? []) {
      if (typeof part === 'string' || part.variable !== 'TX') continue;
      if (part.key === null || part.key.startsWith('/')) any = true;
      else keys.add(part.key.toLowerCase());
    }
  };
  for (const tag of rule.tags)
    for (const found of tag.matchAll(/%\{tx[.:]([^}]+)\}/gi)) keys.add((found[1] as string).toLowerCase());
  if ([...keys].some((key) => key.startsWith('/'))) any = true;
  if (rule.disruptive.kind === 'redirect') template(rule.disruptive.url);
  for (const link of rule.links) {
    for (const target of [...link.targets, ...link.exclusions]) {
      if (target.variable !== 'TX') continue;
      if (target.selector?.kind === 'name') keys.add(target.selector.name.toLowerCase());
      else any = true;
    }
    template(link.operator?.template);
    template(link.msg);
    template(link.logdata);
    for (const action of link.actions) {
      if ('value' in action && typeof action.value !== 'string') template(action.value);
      if ('seconds' in action) template(action.seconds);
      if (!('key' in action)) continue;
      template(action.key);
      if (action.kind === 'initcol' || action.collection !== 'TX') continue;
      if (action.key.every((part) => typeof part === 'string')) keys.add(action.key.join('').toLowerCase());
      else any = true;
    }
  }
  return any ? null : keys;
}
