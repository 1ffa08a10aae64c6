// From rules to atoms: which distinct questions (pipeline, operator, argument) the active rules ask of request data,
// and from which sources their values come. How each can be answered is in atom-means.ts.
import {
  isActingLink,
  readsEarlierLinks,
  scanSources,
  seesEarlierRules,
  variables,
  type LinkIR,
  type OperatorIR,
  type Program,
  type RuleIR,
  type ScanSource,
  type TargetIR,
} from '#engine/compile';
import { matcherOrNull } from '../passes/answers.js';
import type { FoldedProgram } from '../passes/fold-constants.js';
import { dropLowercase, holdsOnAnything, meansOf, type AtomMeans } from './atom-means.js';

export interface PlannedAtom {
  readonly index: number;
  readonly pipeline: number;
  readonly item: number;
  readonly link: number;
  readonly means: AtomMeans;
  readonly sources: Set<ScanSource>;
}

export interface AtomPlan {
  readonly pipelines: readonly (readonly string[])[];
  readonly atoms: readonly PlannedAtom[];
  readonly linkAtoms: readonly (readonly (readonly number[] | null)[] | null)[];
}

const bodyControls: ReadonlySet<string> = new Set(['forceRequestBodyVariable', 'requestBodyProcessor']);

export function planAtoms(program: Program, folded: FoldedProgram): AtomPlan {
  return new AtomPlanner(program, folded).run();
}

class AtomPlanner {
  private readonly pipelines: (readonly string[])[] = [[]];
  private readonly pipelineIds = new Map<string, number>([['', 0]]);
  private readonly atoms: PlannedAtom[] = [];
  private readonly atomIds = new Map<string, number>();
  private readonly constants: ReadonlyMap<string, string>;
  /** A failing chain can be seen by a later rule, so that only heads may be scanned ahead. */
  private readonly headOnly: boolean;
  /** Some rule behind the head of the request decides whether REQUEST_BODY has a value. */
  private readonly lateBody: boolean;

  constructor(
    private readonly program: Program,
    private readonly folded: FoldedProgram,
  ) {
    this.headOnly = seesEarlierRules(program);
    this.lateBody = program.items.some(
      (item) =>
        item.kind === 'rule' &&
        item.phase > 1 &&
        item.links.some((link) =>
          link.actions.some((action) => action.kind === 'ctl' && bodyControls.has(action.control.kind)),
        ),
    );
    this.constants = new Map(folded.constantArguments.map(([item, link, argument]) => [`${item}/${link}`, argument]));
  }

  run(): AtomPlan {
    const linkAtoms: ((readonly number[] | null)[] | null)[] = this.program.items.map(() => null);
    for (const index of this.folded.active.flat()) {
      const rule = this.program.items[index];
      if (rule === undefined || rule.kind !== 'rule') continue;
      linkAtoms[index] = this.planRule(rule);
    }
    return { pipelines: this.pipelines, atoms: this.atoms, linkAtoms };
  }

  /**
   * Scans one link of the chain: the head if it can be, else the first later link for which everything before it leaves
   * no trace when the chain fails. A called operator that must look at every value is not worth it there.
   */
  private planRule(rule: RuleIR): (readonly number[] | null)[] {
    const planned: (readonly number[] | null)[] = rule.links.map(() => null);
    for (let position = 0; position < (this.headOnly ? 1 : rule.links.length); position += 1) {
      const link = rule.links[position] as LinkIR;
      const isWorthIt = position === 0 || !this.isCostlyCall(rule, link, position);
      const atoms =
        isWorthIt && (position === 0 || !readsEarlierLinks(link)) ? this.planLink(rule, link, position) : null;
      if (atoms !== null) {
        planned[position] = atoms;
        return planned;
      }
      if (isActingLink(link)) return planned;
    }
    return planned;
  }

  private isCostlyCall(rule: RuleIR, link: LinkIR, position: number): boolean {
    const argument =
      link.operator?.template == null ? link.operator?.argument : this.constants.get(`${rule.index}/${position}`);
    if (link.operator === null || argument === undefined) return true;
    const means = meansOf(link.operator, argument, false);
    return means.kind === 'called' && means.neededBytes === null;
  }

  /** The link's atoms, or null when it has to be evaluated as it is. */
  private planLink(rule: RuleIR, link: LinkIR, position: number): readonly number[] | null {
    const { operator } = link;
    if (operator === null || operator.negated || link.targets.length === 0) return null;
    const argument = operator.template === null ? operator.argument : this.constants.get(`${rule.index}/${position}`);
    if (argument === undefined) return null;
    // A constant macro may be no pattern; then the evaluator knows that nothing matches.
    if (operator.template !== null && matcherOrNull(operator, argument) === null) return null;
    if (holdsOnAnything(operator, argument)) return null;
    const sources = new Set<ScanSource>();
    for (const target of link.targets) {
      const found = sourcesOf(target, link.exclusions);
      if (found === null || (variables.get(target.variable)?.kind === 'scalar' && !this.isSettled(found, rule)))
        return null;
      for (const source of found) sources.add(source);
    }
    const steps = link.transformations;
    const stages: (readonly string[])[] = link.multiMatch
      ? [...steps.map((_, length) => steps.slice(0, length)), steps]
      : [steps];
    return [...new Set(stages.map((stage) => this.atomFor(rule, position, operator, argument, stage, sources)))];
  }

  /**
   * A scalar has a value, the empty one, before it is known, and REQUEST_BODY may be switched on late: no scan sees
   * that.
   */
  private isSettled(sources: readonly ScanSource[], rule: RuleIR): boolean {
    return sources.every(
      (source) => scanSources[source].phase <= rule.phase && !(source === 'requestBody' && this.lateBody),
    );
  }

  private atomFor(
    rule: RuleIR,
    link: number,
    operator: OperatorIR,
    argument: string,
    steps: readonly string[],
    sources: ReadonlySet<ScanSource>,
  ): number {
    const key = JSON.stringify([operator.name, argument, operator.phrases, steps]);
    const known = this.atomIds.get(key);
    if (known !== undefined) {
      for (const source of sources) (this.atoms[known] as PlannedAtom).sources.add(source);
      return known;
    }
    const { pipeline, dropped } = dropLowercase(steps);
    const means = meansOf(operator, argument, dropped);
    // A called operator needs the real text.
    const scanned = means.kind === 'called' ? steps : pipeline;
    const index = this.atoms.length;
    this.atoms.push({
      index,
      pipeline: this.pipelineId(scanned),
      item: rule.index,
      link,
      means,
      sources: new Set(sources),
    });
    this.atomIds.set(key, index);
    return index;
  }

  private pipelineId(steps: readonly string[]): number {
    const key = steps.join(',');
    const known = this.pipelineIds.get(key);
    if (known !== undefined) return known;
    this.pipelines.push(steps);
    this.pipelineIds.set(key, this.pipelines.length - 1);
    return this.pipelines.length - 1;
  }
}

/** Sources that feed a target, or null when the target cannot be scanned in bulk. */
function sourcesOf(target: TargetIR, exclusions: readonly TargetIR[]): readonly ScanSource[] | null {
  if (target.count) return null;
  const all = (Object.keys(scanSources) as ScanSource[]).filter((source) =>
    (scanSources[source].variables as readonly string[]).includes(target.variable),
  );
  if (all.length === 0) return null;
  if (target.variable !== 'REQUEST_HEADERS') return all;
  if (target.selector?.kind === 'name')
    return [target.selector.name.toLowerCase() === 'cookie' ? 'cookieHeader' : 'headerValue'];
  const cookieExcluded = exclusions.some(
    (other) =>
      other.variable === 'REQUEST_HEADERS' &&
      other.selector?.kind === 'name' &&
      other.selector.name.toLowerCase() === 'cookie',
  );
  return cookieExcluded ? ['headerValue'] : all;
}
