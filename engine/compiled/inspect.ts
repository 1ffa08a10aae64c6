// The compiled engine. Per phase: collect the values that became known, look each up in the memo or scan it, and run,
// in rule order, only (a) rules one of whose atoms may hold on one of their values and (b) rules that no scan can
// answer and whose quick check says "maybe". What runs, runs in the shared evaluator, exactly as in the interpreter.
import { phaseIsOver } from '../actions/index.js';
import type { Collection } from '../transaction/collection.js';
import { RuleEvaluator, transformationContext, type ValueFilter } from '../evaluate/evaluator.js';
import type { Inspector } from '../transaction/inspector.js';
import type { LinkIR, Phase, Program, RuleIR } from '../program/ir.js';
import type { Scanner } from '../native/matcher.js';
import { createMatcher } from '../operators/index.js';
import type { DatabaseIR, PlanIR, ScanClassIR, ScanSource } from '../program/plan.js';
import { scanSources } from '../program/plan.js';
import { isRuleRemoved, isTargetRemoved, type RemovalTable } from '../evaluate/removals.js';
import type { Ruleset } from '../program/ruleset.js';
import { createSession } from '../transaction/session.js';
import type { Transaction } from '../transaction/transaction.js';
import { transformations } from '../transformations/index.js';
import { variables } from '../variables/index.js';
import { indexAtomUses, sourceBit, sourceNames, type AtomUse } from './atom-uses.js';
import { createByteGroups } from './scan/byte-groups.js';
import { HeadShapes } from './unscanned/head-shapes.js';
import { HitFinder, highBytes } from './scan/hit-finder.js';
import { noHits, type ValueRecord } from './scan/memo.js';
import { createPatternSet } from './scan/pattern-set.js';
import { createResidents, runBare, type Resident, type Residents } from './unscanned/unscanned-rules.js';

export interface CompiledOptions {
  /** Records remembered per thread; null = remember nothing (a rung of the test ladder). */
  readonly memo?: { readonly entriesMax: number; readonly bytesMax: number; readonly valueBytesMax: number } | null;
}

const defaultMemo = { entriesMax: 32_768, bytesMax: 8 * 1024 * 1024, valueBytesMax: 4096 } as const;

/** An inspector for one thread, with counters for metrics. */
export interface CompiledInspector extends Inspector {
  counters(): {
    readonly lookups: number;
    readonly found: number;
    readonly scans: number;
    readonly scannedBytes: number;
  };
  /** Frees the thread's native scratch. The Ruleset stays. */
  release(): void;
}

export function createCompiledInspector(ruleset: Ruleset, options: CompiledOptions = {}): CompiledInspector {
  const engine = new CompiledEngine(ruleset, options.memo === undefined ? defaultMemo : options.memo);
  const session = createSession(ruleset.program, engine.runPhase, new Map(ruleset.plan.initialTx));
  return {
    ...session,
    counters: () => engine.counters(),
    release: () => engine.release(),
  };
}

class CompiledEngine {
  private readonly program: Program;
  private readonly plan: PlanIR;
  private readonly evaluator: RuleEvaluator;
  private readonly finder: HitFinder;
  private readonly scanner: Scanner | null;
  private readonly residents: Residents;
  /** Null where header values have no records. */
  private readonly shapes: HeadShapes | null;
  private readonly uses: readonly (readonly AtomUse[])[];
  /** Scan class of each source, -1 = nobody asks. */
  private readonly classOf: Readonly<Record<ScanSource, number>>;
  /** Classes that hold values of a variable, for the evaluator's filter. */
  private readonly classesOfVariable = new Map<string, readonly number[]>();
  /** Scalar and collection sources that somebody asks, by the phase that knows them first. */
  private readonly gathered: readonly (readonly ((transaction: Transaction) => void)[])[];
  /** Some scanned rule belongs to the logging phase. */
  private readonly scansForLogging: boolean;
  /** Scan class, atom → 1 when records of the class tell about the atom. */
  private readonly tells: readonly Uint8Array[];
  /** Item → where its own skipAfter leads; 0 = not asked yet. An item belongs to one phase. */
  private readonly resumes: Int32Array;
  // Values found in this call, until their hits are known.
  private readonly foundRecords: ValueRecord[] = [];
  private readonly foundNames: string[] = [];
  private readonly foundBits: number[] = [];
  private foundCount = 0;

  constructor(ruleset: Ruleset, memo: CompiledOptions['memo']) {
    const { program, plan, library, databases } = ruleset;
    this.program = program;
    this.plan = plan;
    this.evaluator = new RuleEvaluator(program, memo == null ? null : this.filter);
    this.scanner = databases.length === 0 ? null : library.createScanner(databases);
    const asked = [
      highBytes,
      ...plan.alphabets.map((alphabet) => [...alphabet].map((character) => character.charCodeAt(0))),
    ];
    for (const name of new Set(plan.pipelines.flat())) asked.push(transformations.get(name)?.triggers ?? []);
    for (const { called } of plan.classes)
      for (const { neededBytes } of called) if (neededBytes !== null) asked.push(neededBytes);
    this.finder = new HitFinder({
      plan,
      scanner: this.scanner,
      groups: createByteGroups(asked),
      transformations,
      context: transformationContext(program),
      sets: plan.classes.map(({ sets }) => sets.map((set) => createPatternSet(set.sources))),
      matchers: calledMatchers(program, plan),
      memo: memo ?? null,
    });
    this.uses = indexAtomUses(program, plan);
    this.residents = createResidents(program, plan);
    this.resumes = new Int32Array(program.items.length);
    const classOf: Record<string, number> = {};
    for (const source of Object.keys(scanSources) as ScanSource[])
      classOf[source] = plan.classes.findIndex((scanClass) => scanClass.sources.includes(source));
    this.classOf = classOf as Record<ScanSource, number>;
    this.shapes =
      classOf['headerValue'] === -1 || memo == null || this.residents.headerNames.includes('cookie')
        ? null
        : new HeadShapes(this.residents);
    for (const source of Object.keys(scanSources) as ScanSource[]) {
      for (const variable of scanSources[source].variables) {
        const known = this.classesOfVariable.get(variable) ?? [];
        const scanClass = classOf[source] as number;
        if (scanClass !== -1 && !known.includes(scanClass)) this.classesOfVariable.set(variable, [...known, scanClass]);
      }
    }
    this.scansForLogging = this.uses.some((list) => list.some((use) => use.phase === 5));
    this.tells = plan.classes.map((scanClass) => atomsTold(scanClass, plan));
    this.gathered = [1, 2, 3, 4].map((phase) => this.gatherersOf(phase));
  }

  counters(): { lookups: number; found: number; scans: number; scannedBytes: number } {
    return { ...this.finder.memoCounters(), scans: this.finder.scans, scannedBytes: this.finder.scannedBytes };
  }

  release(): void {
    this.scanner?.release();
  }

  readonly runPhase = (transaction: Transaction, phase: Phase, removals: RemovalTable): void => {
    if (phase !== 5 || this.scansForLogging) this.findCandidates(transaction, phase);
    const candidates = transaction.candidates?.[phase] ?? none;
    if (candidates.length > 1) (candidates as number[]).sort(ascending);
    const residents = (
      transaction.headShape === null ? this.residents.whole[phase] : transaction.headShape.residents[phase]
    ) as readonly Resident[];
    let resident = 0;
    let candidate = 0;
    let resumeAt = -1; // items before it are skipped
    while (resident < residents.length || candidate < candidates.length) {
      const nextCandidate = candidate < candidates.length ? (candidates[candidate] as number) : Number.MAX_SAFE_INTEGER;
      const next = resident < residents.length ? (residents[resident] as Resident) : null;
      let index: number;
      if (next !== null && next.item < nextCandidate) {
        resident += 1;
        index = next.item;
        if (index < resumeAt || (next.check !== null && !next.check(transaction))) continue;
        const { run } = next;
        if (run !== null && run.lastItem < nextCandidate && transaction.ruleRemovals.length === 0) {
          run.run(transaction, removals);
          resident += run.length - 1;
          continue;
        }
        if (transaction.ruleRemovals.length > 0 && isRuleRemoved(transaction, next.rule)) continue;
        this.runResident(next, transaction, removals);
      } else {
        index = nextCandidate;
        candidate += 1;
        if (index < resumeAt) continue;
        const rule = this.program.items[index] as RuleIR;
        if (transaction.ruleRemovals.length > 0 && isRuleRemoved(transaction, rule)) continue;
        this.evaluator.runRule(rule, transaction, removals);
      }
      if (transaction.skipRules > 0 || transaction.skipAfter !== null)
        resumeAt = this.resumeAfter(transaction, phase, index);
      if (phaseIsOver(transaction)) return;
    }
  };

  private runResident({ rule, isBare, replay }: Resident, transaction: Transaction, removals: RemovalTable): void {
    const hasRemovals = transaction.targetRemovals.length > 0;
    if (isBare && !(hasRemovals && isTargetRemoved(transaction, rule))) {
      runBare(rule, transaction, removals);
      return;
    }
    if (replay === null || hasRemovals) {
      this.evaluator.runRule(rule, transaction, removals);
      return;
    }
    const key = replay.keyOf(transaction);
    if (!replay.repeat(transaction, key) && !this.evaluator.runRule(rule, transaction, removals))
      replay.remember(transaction, key);
  }

  /** The item at which rules run again after a skip; consumes the skip. */
  private resumeAfter(transaction: Transaction, phase: Phase, index: number): number {
    const { skipAfter, skipRules } = transaction;
    transaction.skipAfter = null;
    transaction.skipRules = 0;
    const rule = this.program.items[index] as RuleIR;
    if (skipAfter === null || skipRules > 0 || rule.skipAfter !== skipAfter)
      return this.findResume(phase, index, skipAfter, skipRules);
    // Where a rule's own skipAfter leads is always the same.
    const known = this.resumes[index] as number;
    if (known !== 0) return known;
    const found = this.findResume(phase, index, skipAfter, 0);
    this.resumes[index] = found;
    return found;
  }

  private findResume(phase: Phase, index: number, marker: string | null, count: number): number {
    const list = this.program.phases[phase] as readonly number[];
    let position = list.indexOf(index) + 1;
    let skipAfter = marker;
    let left = count;
    for (; position < list.length; position += 1) {
      const item = this.program.items[list[position] as number];
      if (skipAfter !== null) {
        if (item?.kind === 'marker' ? item.name === skipAfter : String(item?.id) === skipAfter) skipAfter = null;
      } else if (left === 0) break;
      else if (item?.kind === 'rule') left -= 1;
    }
    return position < list.length ? (list[position] as number) : neverAgain;
  }

  /** Collects and scans what this phase made known, and marks the rules to run. */
  private findCandidates(transaction: Transaction, phase: number): void {
    // Phases that `allow` left out, or that nobody called, have values all the same.
    for (let known = transaction.phasesRun.at(-2) ?? 0; known < Math.min(phase, 4); known += 1) {
      for (const gather of this.gathered[known] as readonly ((transaction: Transaction) => void)[]) gather(transaction);
    }
    const { foundRecords, foundBits, foundNames, finder, foundCount } = this;
    finder.flush();
    for (let index = 0; index < foundCount; index += 1) {
      const { hits } = foundRecords[index] as ValueRecord;
      if (hits !== noHits) this.mark(transaction, phase, hits, foundBits[index] as number, foundNames[index] as string);
    }
    // The arrays keep their storage; a body of very many values must not keep its values alive.
    if (foundCount > foundKeptMax) {
      foundRecords.length = 0;
      foundBits.length = 0;
      foundNames.length = 0;
    }
    this.foundCount = 0;
  }

  private mark(transaction: Transaction, phase: number, hits: readonly number[], bit: number, name: string): void {
    for (const atom of hits) {
      for (const use of this.uses[atom] as readonly AtomUse[]) {
        if ((use.sources & bit) === 0 || use.phase < phase) continue;
        if (use.headerNames !== null && (bit & headerBits) !== 0 && !use.headerNames.includes(name.toLowerCase()))
          continue;
        transaction.candidates ??= [[], [], [], [], [], []];
        const list = transaction.candidates[use.phase] as number[];
        if (!list.includes(use.item)) list.push(use.item);
      }
    }
  }

  private take(scanClass: number, bit: number, name: string, value: string, slot: number): ValueRecord {
    const at = this.foundCount;
    this.foundCount = at + 1;
    const record = this.finder.findAt(slot, scanClass, value);
    this.foundRecords[at] = record;
    this.foundBits[at] = bit;
    this.foundNames[at] = name;
    return record;
  }

  /** What the evaluator asks before it transforms and tests a value of a scanned rule. */
  private readonly filter: ValueFilter = (rule, link, variable, value) => {
    const atoms = this.plan.linkAtoms[rule.index]?.[link];
    if (atoms == null) return true;
    for (const scanClass of this.classesOfVariable.get(variable) ?? noClasses) {
      // The same bytes may be known in a class that never asks these atoms (a Cookie header's): its silence means
      // nothing.
      if (!this.tellsAll(scanClass, atoms)) continue;
      const record = this.finder.peek(scanClass, value);
      if (record === undefined) continue;
      for (const atom of atoms) if (record.hits.includes(atom)) return true;
      return false;
    }
    return true;
  };

  private tellsAll(scanClass: number, atoms: readonly number[]): boolean {
    const told = this.tells[scanClass] as Uint8Array;
    for (const atom of atoms) if (told[atom] === 0) return false;
    return true;
  }

  private gatherersOf(phase: number): ((transaction: Transaction) => void)[] {
    const found: ((transaction: Transaction) => void)[] = [];
    const values = (source: ScanSource, read: (transaction: Transaction) => Collection): void => {
      const scanClass = this.classOf[source];
      const bit = sourceBit[source];
      const base = slotBase(source);
      if (scanSources[source].phase !== phase || scanClass === -1) return;
      found.push((transaction) => {
        const { names, values: list } = read(transaction);
        for (let index = 0; index < list.length; index += 1)
          this.take(
            scanClass,
            bit,
            names[index] as string,
            list[index] as string,
            base + Math.min(index, slotsPerSource - 1),
          );
      });
    };
    const names = (source: ScanSource, read: (transaction: Transaction) => Collection): void => {
      const scanClass = this.classOf[source];
      const bit = sourceBit[source];
      const base = slotBase(source);
      if (scanSources[source].phase !== phase || scanClass === -1) return;
      found.push((transaction) => {
        const list = read(transaction).names;
        for (let index = 0; index < list.length; index += 1)
          this.take(
            scanClass,
            bit,
            list[index] as string,
            list[index] as string,
            base + Math.min(index, slotsPerSource - 1),
          );
      });
    };
    const scalar = (source: ScanSource): void => {
      const scanClass = this.classOf[source];
      const bit = sourceBit[source];
      const base = slotBase(source);
      const variable = variables.get(scanSources[source].variables[0]);
      if (scanSources[source].phase !== phase || scanClass === -1 || variable?.kind !== 'scalar') return;
      found.push((transaction) => {
        this.take(scanClass, bit, '', variable.read(transaction), base);
      });
    };
    if (phase === 1) this.gatherHeaders(found);
    names('headerName', (t) => t.requestHeaders);
    values('cookieValue', (t) => t.requestCookies);
    names('cookieName', (t) => t.requestCookies);
    values('argGetValue', (t) => t.argsGet);
    names('argGetName', (t) => t.argsGet);
    values('argPostValue', (t) => t.body.argsPost);
    names('argPostName', (t) => t.body.argsPost);
    values('fileName', (t) => t.body.files);
    values('fileField', (t) => t.body.filesNames);
    values('multipartFilename', (t) => t.body.multipartFilename);
    values('multipartName', (t) => t.body.multipartName);
    values('multipartPartHeader', (t) => t.body.multipartPartHeaders);
    values('responseHeader', (t) => t.responseHeaders);
    names('responseHeaderName', (t) => t.responseHeaders);
    for (const source of [
      'requestFilename',
      'requestBasename',
      'requestUri',
      'requestUriRaw',
      'requestLine',
      'queryString',
      'requestBody',
      'responseBody',
    ] as const)
      scalar(source);
    if (phase === 2 && this.classOf.xml !== -1) {
      found.push((transaction) => {
        for (const value of transaction.body.xmlText)
          this.take(this.classOf.xml, sourceBit.xml, '', value, slotBase('xml'));
        for (const value of transaction.body.xmlAttributes)
          this.take(this.classOf.xml, sourceBit.xml, '', value, slotBase('xml'));
      });
    }
    return found;
  }

  private gatherHeaders(found: ((transaction: Transaction) => void)[]): void {
    const { headerValue, cookieHeader } = this.classOf;
    const base = slotBase('headerValue');
    const cookieBase = slotBase('cookieHeader');
    if (headerValue === -1 && cookieHeader === -1) return;
    const { shapes } = this;
    found.push((transaction) => {
      const { names, values } = transaction.requestHeaders;
      shapes?.begin();
      for (let index = 0; index < names.length; index += 1) {
        const name = names[index] as string;
        const isCookie = name.length === 6 && name.toLowerCase() === 'cookie';
        const scanClass = isCookie ? cookieHeader : headerValue;
        if (scanClass === -1) continue;
        const record = this.take(
          scanClass,
          isCookie ? sourceBit.cookieHeader : sourceBit.headerValue,
          name,
          values[index] as string,
          (isCookie ? cookieBase : base) + Math.min(index, slotsPerSource - 1),
        );
        shapes?.add(index, name, record.number);
      }
      if (shapes !== null) transaction.headShape = shapes.find(transaction);
    });
  }
}

/** Storage for this many found values is kept between transactions. */
const foundKeptMax = 256;

/**
 * Positions of a source (the first headers, cookies, arguments …) that have a slot of their own; later ones share the
 * last.
 */
const slotsPerSource = 24;
function slotBase(source: ScanSource): number {
  return sourceNames.indexOf(source) * slotsPerSource;
}

function atomsTold(scanClass: ScanClassIR, plan: PlanIR): Uint8Array {
  const told = new Uint8Array(plan.atoms.length);
  const { union, sets, called } = scanClass;
  if (union.database !== -1) for (const atom of (plan.databases[union.database] as DatabaseIR).atomOf) told[atom] = 1;
  for (const { atoms } of sets) for (const atom of atoms) told[atom] = 1;
  for (const { atom } of called) told[atom] = 1;
  return told;
}

/** Behind every item. */
const neverAgain = 0x7fffffff;
const none: readonly number[] = [];
const noClasses: readonly number[] = [];
const headerBits = sourceBit.headerValue | sourceBit.cookieHeader;

function ascending(a: number, b: number): number {
  return a - b;
}

/** By atom. Atoms with the same operator and argument, behind different pipelines, get the same matcher. */
function calledMatchers(program: Program, plan: PlanIR): (ReturnType<typeof createMatcher> | undefined)[] {
  const constants = new Map(plan.constantArguments.map(([item, link, argument]) => [`${item}/${link}`, argument]));
  const called = new Set(plan.classes.flatMap((scanClass) => scanClass.called.map(({ atom }) => atom)));
  const known = new Map<string, ReturnType<typeof createMatcher>>();
  return plan.atoms.map(({ item, link }, index) => {
    if (!called.has(index)) return undefined;
    const rule = program.items[item] as RuleIR;
    const operator = (rule.links[link] as LinkIR).operator;
    if (operator === null) return undefined;
    const argument = constants.get(`${item}/${link}`) ?? operator.argument;
    const question = JSON.stringify([operator.name, argument, operator.phrases]);
    let matcher = known.get(question);
    if (matcher === undefined) known.set(question, (matcher = createMatcher(operator, argument)));
    return matcher;
  });
}
