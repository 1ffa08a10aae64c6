// Who asks an atom: the rules to run when it may hold on a value of some source.
import type { LinkIR, Program, TargetIR } from '../program/ir.js';
import { scanSources, type PlanIR } from '../program/plan.js';
import { sourceBit, sourceNames } from './sources.js';

export interface AtomUse {
  readonly item: number;
  readonly phase: number;
  readonly sources: number; // OR of sourceBit
  /** When the rule reads only named request headers: their lower-case names; null = any name. */
  readonly headerNames: readonly string[] | null;
  /** Lower-case names of request headers that the rule leaves out. */
  readonly headersLeftOut: readonly string[];
}

/** Position of the link of a rule that is scanned; -1 = none, the rule is visited in every transaction. */
export function scannedLink(plan: PlanIR, item: number): number {
  return plan.linkAtoms[item]?.findIndex((atoms) => atoms !== null) ?? -1;
}

/** Parallel to plan.atoms. */
export function indexAtomUses(program: Program, plan: PlanIR): readonly (readonly AtomUse[])[] {
  const uses: AtomUse[][] = plan.atoms.map(() => []);
  for (const index of plan.active.flat()) {
    const item = program.items[index];
    const position = scannedLink(plan, index);
    if (item?.kind !== 'rule' || position === -1) continue;
    const use: AtomUse = { item: index, phase: item.phase, ...reach(item.links[position] as LinkIR) };
    for (const atom of (plan.linkAtoms[index] as readonly (readonly number[])[])[position] as readonly number[])
      (uses[atom] as AtomUse[]).push(use);
  }
  return uses;
}

/**
 * Over-approximates on purpose: exclusions and selectors of other collections are left to the evaluator. Headers are
 * looked at by name, because what many rules leave out (User-Agent, Cookie) holds what they look for in every request.
 */
function reach(link: LinkIR): Pick<AtomUse, 'sources' | 'headerNames' | 'headersLeftOut'> {
  let sources = 0;
  for (const source of sourceNames) {
    const fed = scanSources[source].variables as readonly string[];
    if (link.targets.some((target) => fed.includes(target.variable))) sources |= sourceBit[source];
  }
  const headers = link.targets.filter((target) => target.variable === 'REQUEST_HEADERS');
  const named = headers.every((target) => target.selector?.kind === 'name');
  return {
    sources,
    headerNames: headers.length > 0 && named ? headers.map(nameOf) : null,
    headersLeftOut: link.exclusions
      .filter(({ variable, selector }) => variable === 'REQUEST_HEADERS' && selector?.kind === 'name')
      .map(nameOf),
  };
}

function nameOf(target: TargetIR): string {
  return target.selector?.kind === 'name' ? target.selector.name.toLowerCase() : '';
}
