// Attacks on logins: many accounts from one client, most in vain; one account again and again; and, in both, who was
// let in after that. Logins are told by their path or by the members of their body, accounts are keyed hashes.
import { evidenceMax, timeOf, type Finding, type JudgeOptions, type ThreatKind } from './finding.js';
import type { Seen } from './seen.js';
import { SlowLogins } from './slow-logins.js';

interface Attempt {
  readonly seen: Seen;
  readonly atMs: number;
}

/** Attempts are slower than reads: the window of the settings, and this long at least. */
const windowMsMin = 300_000;
const failedShare = 0.7;
const attemptsMax = 50_000;
/** Clients that try the accounts of one site together. */
const clientsOfMany = 5;

export class Logins {
  private attempts: Attempt[] = [];
  private hasNews = false;
  private readonly slow = new SlowLogins();

  feed(seen: Seen): void {
    if (!seen.isLogin || (seen.ok === 0 && seen.denied === 0 && seen.failed === 0)) return;
    this.attempts.push({ seen, atMs: seen.lastMs });
    this.slow.feed(seen);
    this.hasNews = true;
    if (this.attempts.length > attemptsMax) this.attempts = this.attempts.slice(-attemptsMax / 2);
  }

  /** What is reported of a window is not reported again as slow. */
  judge(options: JudgeOptions): Finding[] {
    const quick = this.judgeWindow(options);
    const reported = new Set(quick.map(({ kind, site }) => `${kind} ${site}`));
    return [...quick, ...this.slow.judge(options).filter(({ kind, site }) => !reported.has(`${kind} ${site}`))];
  }

  private judgeWindow({ nowMs, windowMs: given, threshold, settleMs }: JudgeOptions): Finding[] {
    if (!this.hasNews) return [];
    const windowMs = Math.max(given, windowMsMin);
    this.attempts = this.attempts.filter(({ atMs }) => atMs > nowMs - settleMs - windowMs);
    this.hasNews = this.attempts.length > 0;
    const findings: Finding[] = [];
    const loudOf = new Set<string>();
    for (const own of groupBy(this.attempts, ({ seen }) => `${seen.operation}\0${seen.clientIp}`)) {
      const found = ofMany(own, threshold, windowMs);
      if (found === null) continue;
      findings.push(found);
      loudOf.add(found.principal);
    }
    for (const own of this.ofAccounts()) {
      const found = ofOne(own, threshold, windowMs);
      if (found !== null && !loudOf.has(found.principal)) findings.push(found);
    }
    for (const own of groupBy(this.attempts, ({ seen }) => seen.operation)) {
      const clients = new Set(own.map(({ seen }) => seen.clientIp));
      if (clients.size < clientsOfMany || own.some(({ seen }) => loudOf.has(seen.principal))) continue;
      const found = ofMany(own, 3 * threshold, windowMs);
      if (found !== null)
        findings.push({ ...found, principal: '', credential: 'none', clientIps: [...clients].slice(0, 50) });
    }
    return findings;
  }

  private ofAccounts(): Iterable<Attempt[]> {
    const single = this.attempts.filter(({ seen }) => seen.accounts.length === 1);
    return groupBy(single, ({ seen }) => `${seen.operation}\0${seen.accounts[0] ?? ''}`);
  }
}

function groupBy(attempts: readonly Attempt[], keyOf: (attempt: Attempt) => string): Iterable<Attempt[]> {
  const groups = new Map<string, Attempt[]>();
  for (const attempt of attempts) {
    const key = keyOf(attempt);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [attempt]);
    else group.push(attempt);
  }
  return groups.values();
}

const sum = (attempts: readonly Attempt[], of: (seen: Seen) => number): number =>
  attempts.reduce((total, { seen }) => total + of(seen), 0);
const failuresOf = ({ denied, failed }: Seen): number => denied + failed;
const triesOf = (seen: Seen): number => seen.ok + failuresOf(seen);

function ofMany(own: readonly Attempt[], threshold: number, windowMs: number): Finding | null {
  const accounts = new Set(own.flatMap(({ seen }) => (failuresOf(seen) > 0 ? seen.accounts : [])));
  const failures = sum(own, failuresOf);
  const tries = sum(own, triesOf);
  if (accounts.size < threshold || failures < failedShare * tries) return null;
  const passwords = sum(own, ({ passwords: count }) => count);
  const isSpraying = passwords > 0 && passwords * 3 <= accounts.size;
  const said = `${accounts.size} accounts were tried within ${windowMs / 1000} s, ${failures} of ${tries} in vain`;
  return toFinding(own, isSpraying ? 'password_spraying' : 'credential_stuffing', said, accounts.size);
}

function ofOne(own: readonly Attempt[], threshold: number, windowMs: number): Finding | null {
  const failures = sum(own, failuresOf);
  if (failures < threshold) return null;
  return toFinding(
    own,
    'brute_force',
    `one account was tried ${failures} times in vain in ${windowMs / 1000} s`,
    failures,
  );
}

function toFinding(own: readonly Attempt[], kind: ThreatKind, said: string, count: number): Finding {
  const { seen, atMs } = own.at(-1) as Attempt;
  const { site, method, template, principal, credential } = seen;
  const firstFailure = own.findIndex(({ seen: one }) => failuresOf(one) > 0);
  const letIn = own.filter(({ seen: one }, at) => one.ok > 0 && at >= firstFailure);
  const admitted = new Set(letIn.flatMap(({ seen: one }) => one.admitted));
  const after = letIn.length === 0 ? '' : `; then ${Math.max(1, admitted.size)} of them let it in`;
  const shown = [...letIn, ...own.filter((one) => !letIn.includes(one))].slice(0, evidenceMax);
  return {
    ...{ kind, site, method, template, principal, credential, count },
    clientIps: [...new Set(own.map(({ seen: one }) => one.clientIp))].filter((ip) => ip !== '').slice(0, 50),
    severity: letIn.length > 0 ? 'critical' : 'high',
    confidence: letIn.length > 0 ? 'high' : 'medium',
    reason: `${said}${after}`,
    firstMs: own[0]?.atMs ?? atMs,
    lastMs: atMs,
    evidence: shown.map(({ seen: one, atMs: at }) => ({
      ...{ request_id: one.requestId, at: timeOf(at), because: one.ok > 0 ? null : ('denied' as const) },
      ...{ other_request_id: null, other_principal: null, noun: 'account' },
    })),
  };
}
