// BOLA by count: one principal gets, or tries to get, as many different objects of one operation within the window as
// the setting says, which nothing ties to it and few others read.
import { objectKey, type Memory, type ObjectKey } from './memory.js';
import { timeOf, evidenceMax, type Finding, type JudgeOptions } from './finding.js';
import type { Seen } from './seen.js';

interface Step {
  readonly atMs: number;
  readonly requestId: string;
  /** null: an object of which only the kind was kept. */
  readonly key: ObjectKey | null;
  readonly name: string;
  readonly isDenied: boolean;
}

interface Trail {
  seen: Seen;
  steps: Step[];
  hasNews: boolean;
}

const trailsMax = 20_000;
const stepsMax = 5000;
/** Of an operation whose objects others read, too: that many of them are read by two others at least. */
const sharedShare = 0.3;
const sharedMin = 10;

export class Enumeration {
  private readonly trails = new Map<string, Trail>();

  constructor(private readonly memory: Memory) {}

  feed(seen: Seen): void {
    const { ok, denied, requestId, lastMs: atMs, objects, queried, distinct } = seen;
    if (seen.isLogin || seen.isPrivileged || (ok === 0 && denied === 0)) return;
    const last = objects.at(-1);
    const isDenied = ok === 0;
    const steps: Step[] = [];
    if (last !== undefined) steps.push({ atMs, requestId, key: last, name: objectKey(last), isDenied });
    for (const { key, requestId: id } of queried)
      steps.push({ atMs, requestId: id, key, name: objectKey(key), isDenied: false });
    for (let count = 0; count < Math.min(distinct, 256); count += 1)
      steps.push({ atMs, requestId, key: null, name: `${requestId} ${count}`, isDenied });
    if (steps.length === 0) return;
    const place = `${seen.operation}\0${seen.principal}`;
    const trail = this.trails.get(place) ?? { seen, steps: [], hasNews: false };
    this.trails.delete(place);
    this.trails.set(place, trail);
    trail.seen = seen;
    trail.hasNews = true;
    trail.steps.push(...steps);
    if (trail.steps.length > stepsMax) trail.steps = trail.steps.slice(-stepsMax);
    if (this.trails.size > trailsMax) for (const first of this.trails.keys()) if (this.trails.delete(first)) break;
  }

  judge({ nowMs, windowMs, settleMs, threshold }: JudgeOptions): Finding[] {
    const findings: Finding[] = [];
    for (const [place, trail] of this.trails) {
      const settled = nowMs - settleMs;
      if (trail.hasNews && trail.steps.length >= threshold) {
        trail.steps.sort((one, other) => one.atMs - other.atMs);
        for (const isDenied of [false, true]) {
          const steps = this.strange(trail, settled, isDenied);
          const dense = densest(steps, windowMs, threshold);
          if (dense !== null && !this.isCommon(trail.seen, dense))
            findings.push(toFinding(trail.seen, dense, windowMs));
        }
      }
      trail.hasNews = trail.steps.some(({ atMs }) => atMs > settled);
      trail.steps = trail.steps.filter(({ atMs }) => atMs > settled - windowMs);
      if (trail.steps.length === 0) this.trails.delete(place);
    }
    return findings;
  }

  private strange({ seen, steps }: Trail, untilMs: number, isDenied: boolean): Step[] {
    return steps.filter(
      ({ atMs, key, isDenied: wasDenied }) =>
        atMs <= untilMs &&
        wasDenied === isDenied &&
        (key === null || (!this.memory.knows(key, seen.principal) && this.othersOf(key, seen) < 3)),
    );
  }

  /** How many others got it, as far as is told. */
  private othersOf(key: ObjectKey, { principal }: Seen): number {
    const known = this.memory.objects.get(objectKey(key));
    if (known === undefined) return 0;
    const others = new Set([...known.readers, ...known.ties.keys()]);
    return others.size - (others.has(principal) ? 1 : 0);
  }

  /** Whoever asks at this operation gets what others got: products, articles, documents of all. */
  private isCommon(seen: Seen, steps: readonly Step[]): boolean {
    const others = steps.flatMap(({ key }) => (key === null ? [] : [this.othersOf(key, seen)]));
    const touched = others.filter((count) => count > 0).length;
    if (touched >= sharedMin && others.filter((count) => count > 1).length >= sharedShare * touched) return true;
    const [first] = steps;
    if (first?.key != null && this.memory.isPublicLabel(first.key)) return true;
    if (!this.memory.isPersonal(seen.operation)) return true;
    const use = this.memory.operations.get(seen.operation);
    const client = this.memory.principals.get(`${seen.site}\0${seen.principal}`);
    if (this.memory.overseesMany(client, steps[0]?.key?.label ?? '')) return true;
    return use !== undefined && use.strangers.size >= 3 && use.strangers.size >= 0.25 * use.readers.size;
  }
}

/** The steps of the fullest window, if it has enough different objects; the earliest of several. */
function densest(steps: readonly Step[], windowMs: number, threshold: number): Step[] | null {
  const counts = new Map<string, number>();
  let from = 0;
  let best: [number, number, number] | null = null;
  steps.forEach(({ atMs, name }, to) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    for (let first = steps[from]; first !== undefined && atMs - first.atMs > windowMs; first = steps[(from += 1)]) {
      const left = (counts.get(first.name) ?? 1) - 1;
      if (left === 0) counts.delete(first.name);
      else counts.set(first.name, left);
    }
    if (counts.size >= threshold && counts.size > (best?.[2] ?? 0)) best = [from, to, counts.size];
  });
  if (best === null) return null;
  const [begin, end] = best as [number, number, number];
  const names = new Set<string>();
  return steps.slice(begin, end + 1).filter(({ name }) => !names.has(name) && names.add(name));
}

function toFinding(seen: Seen, steps: readonly Step[], windowMs: number): Finding {
  const { site, method, template, principal, credential, clientIp } = seen;
  const isDenied = steps[0]?.isDenied === true;
  const what = isDenied ? 'was refused' : 'got';
  return {
    kind: 'bola_enumeration',
    ...{ site, method, template, principal, credential, clientIps: clientIp === '' ? [] : [clientIp] },
    severity: isDenied ? 'medium' : 'high',
    confidence: credential === 'none' ? 'low' : 'medium',
    reason: `${what} ${steps.length} different objects within ${windowMs / 1000} s that no answer had shown to it`,
    count: steps.length,
    firstMs: steps[0]?.atMs ?? seen.firstMs,
    lastMs: steps.at(-1)?.atMs ?? seen.lastMs,
    evidence: steps.slice(0, evidenceMax).map(({ requestId, atMs, key }) => ({
      ...{ request_id: requestId, at: timeOf(atMs), because: null, other_request_id: null, other_principal: null },
      noun: key?.label ?? '',
    })),
  };
}
