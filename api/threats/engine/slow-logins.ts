// Attacks on logins that take hours, or come from many addresses with a few tries each: what accounts and addresses did
// is remembered with decay, so that neither patience nor addresses make them small. An account is tried in vain from
// several addresses; an address tries many accounts; addresses that were never let in try many accounts together.
import { evidenceMax, timeOf, type Evidence, type Finding, type JudgeOptions } from './finding.js';
import type { Seen } from './seen.js';

/** Addresses that make tries at one account an attack, and no forgotten password. */
const addressesOfAttack = 4;
const failedShare = 0.7;
/** Of a client that never got in: accounts that it tried. */
const accountsOfGuesser = 2;
const guessersMin = 5;
/** The part of all accounts tried that is theirs. */
const guessersShare = 0.1;
const entriesMax = 50_000;
/** A finding is reported again when so much more was tried. */
const growth = 1.5;

/** One account, or one address. */
interface Trail {
  seen: Seen;
  /** Sums of this moment; half of them is left after the half-life. */
  failures: number;
  tries: number;
  passwords: number;
  atMs: number;
  firstMs: number;
  /** Of an account: addresses; of an address: accounts; with when each was last tried in vain. */
  readonly others: Map<string, number>;
  /** Those that were let in before anything failed, or often. */
  readonly good: Set<string>;
  readonly evidence: Evidence[];
  letIn: Evidence | null;
  reported: number;
  hasNews: boolean;
}

export class SlowLogins {
  private readonly accounts = new Map<string, Trail>();
  private readonly addresses = new Map<string, Trail>();
  private news: Seen[] = [];
  private toldTogether = 0;

  feed(seen: Seen): void {
    if (this.news.length < entriesMax) this.news.push(seen);
  }

  judge({ nowMs, threshold, settleMs, memoryMs = 6 * 3600_000 }: JudgeOptions): Finding[] {
    const due = this.news
      .filter(({ lastMs }) => lastMs <= nowMs - settleMs)
      .sort((one, other) => one.lastMs - other.lastMs);
    if (due.length === 0) return [];
    this.news = this.news.filter(({ lastMs }) => lastMs > nowMs - settleMs);
    for (const seen of due) this.take(seen, memoryMs);
    const findings: Finding[] = [];
    for (const trail of this.accounts.values()) {
      const found = trail.hasNews ? ofAccount(trail, threshold, memoryMs) : null;
      if (found !== null) findings.push(found);
      trail.hasNews = false;
    }
    for (const trail of this.addresses.values()) {
      const found = trail.hasNews ? ofAddress(trail, threshold, memoryMs) : null;
      if (found !== null) findings.push(found);
      trail.hasNews = false;
    }
    const together = this.together(threshold, nowMs, memoryMs);
    return together === null ? findings : [...findings, together];
  }

  private take(seen: Seen, halfLifeMs: number): void {
    const { operation, clientIp, accounts } = seen;
    if (accounts.length === 0) return;
    if (accounts.length === 1) {
      const trail = touch(this.accounts, `${operation}\0${accounts[0] ?? ''}`, seen, halfLifeMs);
      add(trail, seen, clientIp === '' ? [] : [clientIp]);
    }
    if (clientIp !== '') add(touch(this.addresses, `${operation}\0${clientIp}`, seen, halfLifeMs), seen, accounts);
  }

  /** Addresses that each tried several accounts and were let in to none. */
  private together(threshold: number, nowMs: number, memoryMs: number): Finding | null {
    const accounts = new Set<string>();
    const all = new Set<string>();
    const guessers: Trail[] = [];
    let failures = 0;
    for (const trail of this.addresses.values()) {
      if (nowMs - trail.atMs > memoryMs) continue;
      for (const account of [...trail.others.keys(), ...trail.good]) all.add(account);
      if (trail.others.size < accountsOfGuesser || trail.failures < failedShare * trail.tries) continue;
      guessers.push(trail);
      failures += trail.failures;
      for (const account of trail.others.keys()) accounts.add(account);
    }
    const isAttack = accounts.size >= 3 * threshold && accounts.size >= guessersShare * all.size;
    const [first] = guessers;
    if (guessers.length < guessersMin || !isAttack || first === undefined) {
      if (accounts.size < threshold) this.toldTogether = 0;
      return null;
    }
    if (accounts.size < growth * this.toldTogether) return null;
    this.toldTogether = accounts.size;
    const letIn = guessers.find((trail) => trail.letIn !== null)?.letIn ?? null;
    const passwords = guessers.reduce((sum, trail) => sum + trail.passwords, 0);
    const isSpraying = passwords > 0 && passwords * 3 <= accounts.size;
    const { site, method, template } = first.seen;
    return {
      ...{ kind: isSpraying ? 'password_spraying' : 'credential_stuffing', site, method, template },
      ...{ principal: '', credential: 'none', count: accounts.size },
      clientIps: guessers.slice(0, 50).map(({ seen }) => seen.clientIp),
      severity: letIn === null ? 'high' : 'critical',
      confidence: letIn === null ? 'medium' : 'high',
      reason: `${accounts.size} accounts were tried ${fromSo(guessers.length, memoryMs)}${thenLetIn(letIn)}`,
      firstMs: Math.min(...guessers.map(({ firstMs }) => firstMs)),
      lastMs: Math.max(...guessers.map(({ atMs }) => atMs)),
      evidence: [...(letIn === null ? [] : [letIn]), ...guessers.flatMap(({ evidence }) => evidence.slice(-2))].slice(
        0,
        evidenceMax,
      ),
    };
  }
}

const hoursOf = (ms: number): string => `${Math.round(ms / 360_000) / 10} h`;
const fromSo = (addresses: number, ms: number): string => `from ${addresses} addresses within ${hoursOf(ms)}`;
const thenLetIn = (letIn: Evidence | null): string => (letIn === null ? '' : '; then one was let in');

function touch(trails: Map<string, Trail>, key: string, seen: Seen, halfLifeMs: number): Trail {
  const known = trails.get(key);
  const { lastMs: atMs, firstMs } = seen;
  const trail: Trail = known ?? {
    ...{ seen, failures: 0, tries: 0, passwords: 0, atMs, firstMs, others: new Map(), good: new Set() },
    ...{ evidence: [], letIn: null, reported: 0, hasNews: true },
  };
  trails.delete(key);
  trails.set(key, trail);
  const left = 0.5 ** (Math.max(0, atMs - trail.atMs) / halfLifeMs);
  trail.failures *= left;
  trail.tries *= left;
  trail.passwords *= left;
  if (trail.failures < 1) {
    trail.reported = 0;
    trail.letIn = null;
    trail.firstMs = firstMs;
  }
  for (const [other, ms] of trail.others) if (atMs - ms > 2 * halfLifeMs) trail.others.delete(other);
  trail.seen = seen;
  trail.atMs = Math.max(trail.atMs, atMs);
  trail.hasNews = true;
  if (trails.size > entriesMax) for (const first of trails.keys()) if (trails.delete(first)) break;
  return trail;
}

function add(trail: Trail, seen: Seen, others: readonly string[]): void {
  const { ok, denied, failed, requestId, lastMs: atMs } = seen;
  const failures = denied + failed;
  const evidence: Evidence = {
    ...{ request_id: requestId, at: timeOf(atMs), because: failures > 0 ? 'denied' : null },
    ...{ other_request_id: null, other_principal: null, noun: 'account' },
  };
  trail.tries += ok + failures;
  trail.failures += failures;
  trail.passwords += seen.passwords;
  if (ok > 0) {
    // who was let in before is no stranger; a new one after failures of others may have guessed
    const isNew = others.every((other) => !trail.good.has(other));
    if (isNew && trail.failures >= addressesOfAttack && trail.others.size >= addressesOfAttack) trail.letIn = evidence;
    for (const other of others) if (trail.good.size < 64) trail.good.add(other);
  }
  if (failures === 0) return;
  for (const other of others) if (trail.others.size < 256 || trail.others.has(other)) trail.others.set(other, atMs);
  trail.evidence.push(evidence);
  if (trail.evidence.length > evidenceMax) trail.evidence.shift();
}

function ofAccount(trail: Trail, threshold: number, memoryMs: number): Finding | null {
  const { failures, tries, others, good, letIn } = trail;
  const strangers = [...others.keys()].filter((address) => !good.has(address) || letIn !== null);
  const isMany = failures >= threshold && strangers.length >= addressesOfAttack;
  if (!isMany || failures < failedShare * tries) return null;
  const said = `one account was tried ${Math.round(failures)} times in vain ${fromSo(strangers.length, memoryMs)}`;
  return tell(trail, 'brute_force', said, Math.round(failures), strangers);
}

function ofAddress(trail: Trail, threshold: number, memoryMs: number): Finding | null {
  const { failures, tries, others, passwords, seen } = trail;
  if (others.size < threshold || failures < failedShare * tries) return null;
  const isSpraying = passwords > 0 && passwords * 3 <= others.size;
  const said = `${others.size} accounts were tried from one address within ${hoursOf(memoryMs)}`;
  return tell(trail, isSpraying ? 'password_spraying' : 'credential_stuffing', said, others.size, [seen.clientIp]);
}

/** null: it was reported already, and has not grown much since. */
function tell(
  trail: Trail,
  kind: Finding['kind'],
  said: string,
  count: number,
  clientIps: readonly string[],
): Finding | null {
  const { seen, letIn, firstMs, atMs: lastMs, evidence } = trail;
  const weight = letIn === null ? count : count + 1_000_000;
  if (trail.reported > 0 && weight < growth * trail.reported) return null;
  trail.reported = weight;
  const { site, method, template, principal, credential } = seen;
  return {
    ...{ kind, site, method, template, principal, credential, count, firstMs, lastMs },
    clientIps: clientIps.slice(-50),
    severity: letIn === null ? 'high' : 'critical',
    confidence: letIn === null ? 'medium' : 'high',
    reason: `${said}${thenLetIn(letIn)}`,
    evidence: [...(letIn === null ? [] : [letIn]), ...evidence].slice(0, evidenceMax),
  };
}
