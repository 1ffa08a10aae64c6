// The evaluation of what principals do, without database and clock: windows of nodes and of ingestion go in, findings
// come out. Deterministic: the same windows in the same order yield the same findings.
import { anyNoun, type Relation } from '#proxy/contract';
import type { KeptSighting } from '../../inventory/index.js';
import { Enumeration } from './enumeration.js';
import { evidenceMax, timeOf, type Finding, type JudgeOptions } from './finding.js';
import { Functions } from './functions.js';
import { Logins } from './logins.js';
import { addName, Memory, objectKey, type ObjectKey } from './memory.js';
import { Ownership, type Candidate } from './ownership.js';
import { toPlace, toSeen, type Place, type Seen, type TemplateOf } from './seen.js';
import type { NewTie } from './tie.js';
import { Withheld } from './withheld.js';

export type { NewTie } from './tie.js';

export interface Window {
  readonly sightings: readonly KeptSighting[];
  readonly relations: readonly Relation[];
}
export interface ThreatEngineOptions {
  /** Of keyed hashes; the one that nodes have. */
  readonly key: Uint8Array;
  readonly templateOf: TemplateOf;
}

const pendingMax = 100_000;
/** Judged without a pause: some milliseconds. */
const candidatesAtOnce = 200;
const placesMax = 50_000;
const strangersMax = 2000;
const roundsMax = 3;
/** Who owns an object that a stranger got may turn out that much later. */
const openMs = 3600_000;
/** Names of parameters that say whom or what a request is about. */
const telling = /id$|uuid|role|admin|user|account|owner|group|scope|permission|price|amount/i;
const pollutersOfOrdinary = 3;
/** Of paths by which the holder of an object hands it on. */
const grants =
  'shares? sharing invites? invitations? members? collaborators? permissions? grants? publish public links?';
const granting = new RegExp(`(?:^|[-_/])(?:${grants.replaceAll(' ', '|')}|transfer|assign)$`);

export class ThreatEngine {
  readonly memory = new Memory();
  private readonly ownership = new Ownership(this.memory);
  private readonly enumeration = new Enumeration(this.memory);
  private readonly functions = new Functions(this.memory);
  private readonly logins = new Logins();
  private readonly withheld = new Withheld(this.memory);
  private granted: NewTie[] = [];
  private pending = new Map<string, Candidate>();
  private readonly parked = new Map<string, Map<string, Candidate>>();
  private pollutions = new Map<string, Seen>();
  /** Of paths that came lately; forgotten with each judgement, as templates are learned meanwhile. */
  private readonly places = new Map<string, Place>();

  constructor(private readonly options: ThreatEngineOptions) {}

  /** Takes a window in; returns what was learned of who may know what, to be stored. */
  feed({ sightings, relations }: Window): NewTie[] {
    const ties: NewTie[] = [];
    for (const relation of relations) {
      const { site, principal, how, request_id: requestId, at_ms: atMs } = relation;
      const { noun = '', label = anyNoun, object, credential = 'other', client_ip: clientIp = '' } = relation;
      const use = this.memory.see(site, principal, credential, clientIp, atMs);
      const via = (relation.via ?? []).map((one) => ({ ...one, site }));
      if (how === 'unread') {
        if (via.every((key) => this.memory.knows(key, principal))) this.memory.noteUnread(use, label, atMs);
        continue;
      }
      const tie: NewTie = { site, noun, label, object, principal, how, requestId, atMs, credential, clientIp };
      if (how === 'shown' && via.length > 0 && this.withheld.add(tie, via)) continue;
      if (this.restore(tie)) ties.push(tie);
    }
    for (const sighting of sightings) this.feedSighting(sighting);
    return ties;
  }

  /** A tie that is new; also of those that were stored before this process began. */
  restore(tie: NewTie): boolean {
    const { principal, how, requestId, atMs, credential, clientIp } = tie;
    const isNew = this.memory.tie(tie, principal, { how, requestId, atMs, credential, clientIp });
    const known = isNew ? this.memory.objects.get(objectKey(tie)) : undefined;
    if (known === undefined) return isNew;
    this.ownership.tied(tie, known, principal);
    const waiting = this.parked.get(objectKey(tie));
    if (waiting === undefined) return isNew;
    this.parked.delete(objectKey(tie));
    for (const [key, candidate] of waiting)
      if (candidate.atMs > tie.atMs - openMs && this.pending.size < pendingMax) this.pending.set(key, candidate);
    return isNew;
  }

  private feedSighting(sighting: KeptSighting): void {
    const seen = toSeen(sighting, this.placeOf(sighting));
    const { site, principal, ok } = seen;
    if (principal === '') return;
    const { role } = seen;
    const known = this.memory.see(site, principal, seen.credential, seen.clientIp, seen.lastMs);
    if (role !== '') known.role = role;
    for (const { noun } of seen.objects) if (noun !== '') this.memory.addNoun(site, noun);
    this.logins.feed(seen);
    this.functions.feed(seen);
    this.enumeration.feed(seen);
    if (ok === 0 || seen.isLogin) return;
    if (seen.polluted !== null && telling.test(seen.polluted)) this.pollute(seen, seen.polluted);
    const { objects, queried, requestId, lastMs: atMs } = seen;
    if (objects.length > 0) this.suspect({ seen, objects, requestId, atMs });
    for (const { key, requestId: id } of queried) this.suspect({ seen, objects: [key], requestId: id, atMs });
  }

  private placeOf({ site, path }: KeptSighting): Place {
    const name = `${site}\0${path}`;
    const known = this.places.get(name);
    if (known !== undefined) return known;
    if (this.places.size >= placesMax) this.places.clear();
    const made = toPlace(site, path, this.options.key, this.options.templateOf);
    this.places.set(name, made);
    return made;
  }

  private suspect(candidate: Candidate): void {
    const { seen, objects } = candidate;
    const { memory } = this;
    const last = memory.tellingOf(objects);
    const object = memory.objects.touch(objectKey(last));
    addName(object.readers, seen.principal, 32);
    // a client that follows a link to a thing says nothing of who reads the others
    if (object.grantedMs === 0 && new Set(object.strangers.values()).size < 2)
      addName(memory.operations.touch(seen.operation).readers, seen.principal);
    if (memory.knows(last, seen.principal)) {
      addName(memory.operations.touch(seen.operation).own, seen.principal);
      if (seen.method !== 'GET' && granting.test(seen.template.toLowerCase())) object.grantedMs = candidate.atMs;
      return;
    }
    if (object.ties.size === 0) memory.noteAsked(last, seen.principal);
    const key = `${objects.map(objectKey).join(' ')}\0${seen.principal}\0${seen.operation}`;
    if (!this.pending.has(key) && this.pending.size < pendingMax) this.pending.set(key, candidate);
  }

  private pollute(seen: Seen, parameter: string): void {
    const { polluted } = this.memory.operations.touch(seen.operation);
    const names = polluted.get(parameter) ?? new Set();
    if (polluted.size < 50) polluted.set(parameter, names);
    addName(names, seen.principal, 50);
    if (this.pollutions.size < 10_000) this.pollutions.set(`${seen.operation}\0${parameter}\0${seen.principal}`, seen);
  }

  judge(options: JudgeOptions): Finding[] {
    const steps = this.judgeInSteps(options);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** The same with places at which the caller may let others use the thread; nothing is fed meanwhile. */
  *judgeInSteps(options: JudgeOptions): Generator<void, Finding[]> {
    this.places.clear();
    const thefts = yield* this.judgeOwnership(options);
    return [
      ...thefts,
      ...this.enumeration.judge(options),
      ...this.functions.judge(options),
      ...this.logins.judge(options),
      ...this.judgePollution(options),
    ];
  }

  private *judgeOwnership(options: JudgeOptions): Generator<void, Finding[]> {
    const settled = options.nowMs - options.settleMs;
    const due = [...this.pending].filter(([, { atMs }]) => atMs <= settled);
    due.sort(([, one], [, other]) => one.atMs - other.atMs);
    // all strangers are counted before any is judged, so that the order of requests does not matter
    for (const [index, [, { seen, objects }]] of due.entries()) {
      if (index % candidatesAtOnce === 0) yield;
      this.noteStranger(seen, objects);
    }
    const thefts = new Map<string, Finding>();
    // what an access showed is judged after the access itself, and so on
    for (let left = due, round = 0; left.length > 0; round += 1) {
      const deferred: typeof due = [];
      for (const [index, entry] of left.entries()) {
        if (index % candidatesAtOnce === 0) yield;
        const [, { seen, objects }] = entry;
        const waits = round < roundsMax && this.withheld.holds(this.memory.tellingOf(objects), seen.principal);
        if (waits) deferred.push(entry);
        else this.judgeCandidate(entry, options, thefts);
      }
      for (const tie of this.withheld.settle(settled)) if (this.restore(tie)) this.granted.push(tie);
      left = deferred;
    }
    for (const tie of this.withheld.settle(settled)) if (this.restore(tie)) this.granted.push(tie);
    return [...thefts.values()];
  }

  private judgeCandidate(
    [key, candidate]: readonly [string, Candidate],
    options: JudgeOptions,
    thefts: Map<string, Finding>,
  ): void {
    const outcome = this.ownership.judge(candidate, options);
    const { seen, atMs, objects } = candidate;
    this.withheld.noteOutcome(objects, seen.principal, outcome.kind);
    const isOver = outcome.kind !== 'open' || atMs < options.nowMs - options.settleMs - openMs;
    if (isOver) this.pending.delete(key);
    if (outcome.kind === 'ownerless') this.park(key, candidate);
    if (outcome.kind !== 'theft') return;
    const place = `${seen.operation}\0${seen.principal}`;
    thefts.set(place, addTheft(thefts.get(place), seen, atMs, outcome.evidence));
  }

  /** Ties that judging found to be all right since the last call, to be stored as those of `feed`. */
  takeGranted(): NewTie[] {
    const { granted } = this;
    this.granted = [];
    return granted;
  }

  /** Until somebody turns out to own the object. */
  private park(key: string, candidate: Candidate): void {
    for (const object of candidate.objects) {
      const name = objectKey(object);
      const waiting = this.parked.get(name) ?? new Map<string, Candidate>();
      this.parked.delete(name);
      this.parked.set(name, waiting);
      if (waiting.size < 8) waiting.set(key, candidate);
    }
    while (this.parked.size > pendingMax) for (const first of this.parked.keys()) if (this.parked.delete(first)) break;
  }

  private noteStranger({ principal, operation, clientIp }: Seen, objects: readonly ObjectKey[]): void {
    const last = this.memory.tellingOf(objects);
    if (this.memory.knows(last, principal)) {
      addName(this.memory.operations.touch(operation).own, principal);
      return;
    }
    if (this.withheld.holds(last, principal)) return;
    const known = this.memory.objects.get(objectKey(last));
    if (known === undefined || known.ties.size === 0 || known.grantedMs > 0) return;
    if (known.strangers.size < 32 && !known.strangers.has(principal))
      this.addStranger(last, known.strangers, principal, placeOfClient(principal, clientIp));
    // a client that follows a link says nothing of what else the operation shows to strangers
    const { strangers } = this.memory.operations.touch(operation);
    const places = new Set(known.strangers.values());
    if (places.size > 1)
      for (const place of places) if (strangers.get(place) === objectKey(last)) strangers.delete(place);
    const place = placeOfClient(principal, clientIp);
    if (places.size === 1 && strangers.size < strangersMax) strangers.set(place, objectKey(last));
  }

  private addStranger(key: ObjectKey, strangers: Map<string, string>, principal: string, place: string): void {
    const before = new Set(strangers.values()).size;
    strangers.set(principal, place);
    if (before === 1 && new Set(strangers.values()).size === 2) this.memory.noteLinked(key);
  }

  private judgePollution({ nowMs, settleMs }: JudgeOptions): Finding[] {
    const findings: Finding[] = [];
    for (const [place, seen] of this.pollutions) {
      if (seen.lastMs > nowMs - settleMs) continue;
      this.pollutions.delete(place);
      const parameter = seen.polluted ?? '';
      const names = this.memory.operations.get(seen.operation)?.polluted.get(parameter);
      if ((names?.size ?? 0) >= pollutersOfOrdinary) continue;
      const reason = `${parameter} came twice with different values, or beside a path that names another object`;
      const evidence = { because: null, other_request_id: null, other_principal: null, noun: '' } as const;
      findings.push({
        ...baseOf(seen, seen.lastMs),
        ...{ kind: 'parameter_pollution', severity: 'medium', confidence: 'medium', reason },
        evidence: [{ ...evidence, request_id: seen.requestId, at: timeOf(seen.lastMs) }],
      });
    }
    return findings;
  }
}

/** Whom strangers are counted by: several accounts of one client are one, or a thief would make things shared. */
const placeOfClient = (principal: string, clientIp: string): string => (clientIp === '' ? principal : clientIp);

const baseOf = ({ site, method, template, principal, credential, clientIp }: Seen, atMs: number) => ({
  ...{ site, method, template, principal, credential, clientIps: clientIp === '' ? [] : [clientIp] },
  ...{ count: 1, firstMs: atMs, lastMs: atMs },
});

function addTheft(
  before: Finding | undefined,
  seen: Seen,
  atMs: number,
  evidence: Finding['evidence'][number],
): Finding {
  const count = (before?.count ?? 0) + 1;
  const nouns = [...new Set([...(before?.evidence ?? []), evidence].map(({ noun }) => noun))];
  const what = nouns.map((noun) => (noun === anyNoun ? 'object' : noun)).join(' and ');
  return {
    ...baseOf(seen, atMs),
    kind: 'bola_ownership',
    severity: seen.credential === 'none' || seen.method !== 'GET' ? 'critical' : 'high',
    confidence: evidence.because === 'created' ? 'high' : 'medium',
    reason: `got what answers had shown to others only: ${what}`,
    count,
    firstMs: Math.min(before?.firstMs ?? atMs, atMs),
    lastMs: Math.max(before?.lastMs ?? atMs, atMs),
    evidence: [...(before?.evidence ?? []), evidence].slice(0, evidenceMax),
  };
}
