// BFLA: functions of administrators (told by words of the path) that somebody reaches who was refused there before, or
// who comes without a credential; and many such requests of one principal, most of them refused,
// or of somebody who is an ordinary user otherwise while others are administrators.
import { Groups, isAdministration } from './groups.js';
import type { Memory } from './memory.js';
import { evidenceMax, timeOf, type Evidence, type Finding, type JudgeOptions, type Severity } from './finding.js';
import type { Seen } from './seen.js';

interface Hit {
  readonly seen: Seen;
  readonly atMs: number;
}

const trailsMax = 20_000;
const hitsMax = 500;
/** Between a refusal and a success that are one story. */
const storyMs = 10 * 60_000;
/** Ordinary requests that make an ordinary user. */
const ordinaryMin = 50;

export class Functions {
  private readonly trails = new Map<string, Hit[]>();
  private readonly groups: Groups;

  constructor(private readonly memory: Memory) {
    this.groups = new Groups(memory);
  }

  feed(seen: Seen): void {
    const { site, principal, operation, ok, denied } = seen;
    const use = this.memory.principals.get(`${site}\0${principal}`);
    if (!seen.isPrivileged || seen.isLogin) {
      if (use === undefined) return;
      use.ordinary += ok;
      this.groups.feedOrdinary(seen, use);
      return;
    }
    const here = this.memory.operations.touch(operation);
    if (ok > 0) (seen.credential === 'none' ? here.anonymous : here.admitted).add(principal);
    if (denied > 0) here.denied.add(principal);
    if (use !== undefined && ok > 0) {
      if (use.ordinaryBefore < 0) {
        use.ordinaryBefore = use.ordinary;
        use.firstPrivilegedMs = seen.firstMs;
      }
      use.privileged += ok;
      this.groups.feed(seen, use);
    }
    const place = `${site}\0${principal}`;
    const hits = this.trails.get(place) ?? [];
    this.trails.delete(place);
    this.trails.set(place, hits);
    hits.push({ seen, atMs: seen.lastMs });
    if (hits.length > hitsMax) hits.shift();
    if (this.trails.size > trailsMax) for (const first of this.trails.keys()) if (this.trails.delete(first)) break;
  }

  judge(options: JudgeOptions): Finding[] {
    const { nowMs, settleMs } = options;
    const findings = this.groups.judge(options);
    for (const [place, all] of this.trails) {
      const hits = all.filter(({ atMs }) => atMs <= nowMs - settleMs).sort((one, other) => one.atMs - other.atMs);
      findings.push(...this.refusedThenLetIn(hits), ...this.withoutCredential(hits), ...this.many(hits, options));
      const kept = all.filter(({ atMs }) => atMs > nowMs - settleMs - Math.max(storyMs, options.windowMs));
      if (kept.length === 0) this.trails.delete(place);
      else this.trails.set(place, kept);
    }
    return findings;
  }

  private refusedThenLetIn(hits: readonly Hit[]): Finding[] {
    const refused = new Map<string, Hit>();
    const findings: Finding[] = [];
    for (const hit of hits) {
      const { seen, atMs } = hit;
      const before = refused.get(seen.template);
      if (before === undefined && seen.denied > 0 && seen.ok === 0) refused.set(seen.template, hit);
      if (before === undefined || seen.ok === 0 || atMs - before.atMs > storyMs) continue;
      if (!this.isRefusedToOthers(seen)) continue;
      refused.delete(seen.template);
      const evidence: Evidence = {
        ...{ request_id: seen.requestId, at: timeOf(atMs), because: 'denied', noun: '' },
        ...{ other_request_id: before.seen.requestId, other_principal: seen.principal },
      };
      const reason = `was refused ${before.seen.method} ${seen.template} and then let in with ${seen.method}`;
      findings.push(toFinding([hit], 'high', reason, [evidence]));
    }
    return findings;
  }

  private isRefusedToOthers({ site, template, principal }: Seen): boolean {
    for (const [key, { denied }] of this.memory.operations.map)
      if (key.startsWith(`${site}\0`) && key.endsWith(`\0${template}`))
        for (const name of denied) if (name !== principal) return true;
    return false;
  }

  /**
   * Anonymous clients let in: to a function that names administrators always, to another privileged word (`roles`,
   * `internal`) where people with credentials work and somebody was refused. One finding for all that a client reached.
   */
  private withoutCredential(hits: readonly Hit[]): Finding[] {
    const own = hits.filter(({ seen: { credential, ok, operation, template } }) => {
      if (credential !== 'none' || ok === 0) return false;
      const use = this.memory.operations.get(operation);
      return isAdministration(template) || (use !== undefined && use.denied.size > 0 && use.admitted.size > 0);
    });
    if (own.length === 0) return [];
    const places = new Set(own.map(({ seen: { template } }) => template)).size;
    const reason =
      places === 1
        ? 'reached a function of administrators without a credential'
        : `reached ${places} functions of administrators without a credential`;
    return [toFinding(own, 'high', reason, evidenceOf(own))];
  }

  private many(hits: readonly Hit[], { windowMs, threshold }: JudgeOptions): Finding[] {
    let from = 0;
    let sum = 0;
    let denied = 0;
    const add = ({ seen }: Hit, sign: 1 | -1): void => {
      sum += sign * (seen.ok + seen.denied);
      denied += sign * seen.denied;
    };
    for (const [to, hit] of hits.entries()) {
      add(hit, 1);
      for (let first = hits[from]; first !== undefined && hit.atMs - first.atMs > windowMs; first = hits[(from += 1)])
        add(first, -1);
      if (sum < threshold) continue;
      const own = hits.slice(from, to + 1);
      const said = `${sum} requests for functions of administrators within ${windowMs / 1000} s`;
      if (denied * 2 >= sum)
        return [toFinding(own, 'medium', `${said}, ${denied} of them refused`, evidenceOf(own), sum)];
      if (this.isOrdinary(hit.seen))
        return [toFinding(own, 'high', `${said} by an ordinary user`, evidenceOf(own), sum)];
    }
    return [];
  }

  /** Somebody who did other things for long, and where others are administrators and hardly anything else. */
  private isOrdinary({ site, principal, operation }: Seen): boolean {
    const use = this.memory.principals.get(`${site}\0${principal}`);
    if (use === undefined || use.ordinaryBefore < ordinaryMin || use.privileged > use.ordinary) return false;
    for (const name of this.memory.operations.get(operation)?.admitted ?? []) {
      const other = name === principal ? undefined : this.memory.principals.get(`${site}\0${name}`);
      if (other !== undefined && other.privileged > other.ordinary) return true;
    }
    return false;
  }
}

const evidenceOf = (hits: readonly Hit[]): Evidence[] =>
  hits.slice(0, evidenceMax).map(({ seen, atMs }) => ({
    ...{ request_id: seen.requestId, at: timeOf(atMs), because: null },
    ...{ other_request_id: null, other_principal: null, noun: '' },
  }));

function toFinding(
  hits: readonly Hit[],
  severity: Severity,
  reason: string,
  evidence: readonly Evidence[],
  count = hits.length,
): Finding {
  const { seen, atMs } = hits.at(-1) as Hit;
  const { site, method, template, principal, credential, clientIp } = seen;
  return {
    kind: 'bfla',
    ...{ site, method, template, principal, credential, clientIps: clientIp === '' ? [] : [clientIp] },
    ...{ severity, confidence: severity === 'high' ? 'high' : 'medium', reason, count, evidence },
    ...{ firstMs: hits[0]?.atMs ?? atMs, lastMs: atMs },
  };
}
