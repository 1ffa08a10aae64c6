// What verdicts come to with `ai_action` block: BLOCK denies the address, CHALLENGE and RATE_LIMIT are verdicts at the
// edge, each for `ai_block_seconds`; on a principal all three are verdicts at the edge, which reach its requests alone.
// Nodes are told at once. Whom people who work here use, proxies in front, and what people decided themselves is left
// alone, and the verdict says why.
import { findCovering } from '../threat-intel/import.js';
import { addressesOfPeople } from '../edge/store.js';
import { addEachDenial, decide, inForce as isInForceAt } from '../measures/store.js';
import { kindOfSubject } from '../measures/model.js';
import { systemActor } from '../http-kit/index.js';
import type { Queryable, Tx } from '../db/client.js';
import type { Parts } from '../parts.js';
import { noteEvents } from '../siem/store.js';
import { isShared } from './engine/apart.js';
import { rank, type Rung } from './engine/fusion.js';
import type { Policy } from './engine/policy.js';
import type { Judged } from './engine/round.js';
import type { FeatureVector } from './engine/vector.js';
import { asJson, enforcements, type Enforced, type HeldBack, type Measure, type VerdictRow } from './store.js';

/** Of entries of the deny list and of verdicts that are made here. */
export const engineName = 'detection engine';
export const engineSource = 'ai' as const;
/** Clients of one round; the highest risks come first. */
const measuresMax = 2000;
/** How long a client that people called harmless is left alone, unless they say otherwise later. */
const pardonMs = 24 * 3_600_000;

const actionOf: Readonly<Record<Exclude<Rung, 'ALLOW'>, Enforced>> = {
  BLOCK: 'deny',
  CHALLENGE: 'challenge',
  RATE_LIMIT: 'throttle',
};
export const enforcementOf = (rung: Rung): Enforced | null => (rung === 'ALLOW' ? null : actionOf[rung]);

interface InForce {
  readonly denied: ReadonlyMap<string, Date>;
  readonly verdicts: ReadonlyMap<string, { readonly action: string; readonly source: string; readonly until: Date }>;
  /** What this engine has put in force, and has not ended yet. */
  readonly ours: ReadonlyMap<string, { readonly enforced: Enforced; readonly until: Date }>;
  readonly pardoned: ReadonlySet<string>;
}

/** Of what does not end by itself. */
const endless = new Date(8.64e15);

async function inForceOf(tx: Tx, networks: readonly string[], now: Date): Promise<InForce> {
  const list = asJson(networks);
  const found = await tx<{ subject: string; action: string; source: string; expires_at: Date | null }[]>`
    select subject, action, source, expires_at from client_measures
    where subject in (select value from json_array_elements_text(${list}::text::json)) and ${isInForceAt(tx, now)}`;
  const isOfList = ({ subject, action }: (typeof found)[number]): boolean =>
    action === 'deny' && kindOfSubject(subject) !== 'principal';
  const denied = found.filter((row) => isOfList(row) && row.source === engineSource);
  const verdicts = found.filter((row) => !isOfList(row));
  const ours = await tx<{ address: string; enforced: Enforced; enforced_until: Date }[]>`
    select distinct on (address) address, enforced, enforced_until from ai_verdicts
    where address in (select value from json_array_elements_text(${list}::text::json)) and enforced_until > ${now}
    order by address, enforced_until desc`;
  const judged = await tx<{ address: string; marked: string }[]>`
    select distinct on (address) address, marked from ai_verdicts
    where address in (select value from json_array_elements_text(${list}::text::json))
      and marked_at > ${new Date(now.getTime() - pardonMs)}
    order by address, marked_at desc, id desc`;
  return {
    denied: new Map(denied.map(({ subject, expires_at: until }) => [subject, until ?? now])),
    verdicts: new Map(verdicts.map((row) => [row.subject, { ...row, until: row.expires_at ?? endless }])),
    ours: new Map(ours.map((row) => [row.address, { enforced: row.enforced, until: row.enforced_until }])),
    pardoned: new Set(judged.flatMap(({ address, marked }) => (marked === 'false_positive' ? [address] : []))),
  };
}

/**
 * Whether what a stored verdict put in force still holds. The row keeps what was decided; what somebody lifted before
 * its end is missing in the lists that nodes have.
 */
export async function holdsStill(
  sql: Queryable,
  { address, enforced, enforced_until: until }: Pick<VerdictRow, 'address' | 'enforced' | 'enforced_until'>,
  now: Date,
): Promise<boolean> {
  if (enforced === null || until === null || until <= now) return false;
  const found = await sql`
    select 1 from client_measures
    where source = ${engineSource} and subject = ${address} and ${isInForceAt(sql, now)} limit 1`;
  return found.length > 0;
}

interface Spared {
  readonly people: readonly string[];
  readonly proxies: readonly string[];
}

const covers = (network: string, addresses: readonly string[]): boolean =>
  addresses.some((address) => address === network || findCovering([network], address) !== undefined);

/** Whom this is about is left alone whatever it does. */
function sparedAs({ address, principal }: FeatureVector, { people, proxies }: Spared): HeldBack | null {
  if (principal === undefined) {
    if (covers(address, people)) return 'ban-safe';
    return findCovering(proxies, address.split('/')[0] as string) === undefined ? null : 'trusted-proxy';
  }
  if (principal.networks.some((network) => covers(network, people))) return 'ban-safe';
  return isShared({ principal }) ? 'shared' : null;
}

function heldBackOf(vector: FeatureVector, enforced: Enforced, inForce: InForce, spared: Spared): HeldBack | null {
  const { address: network, principal } = vector;
  if (inForce.pardoned.has(network)) return 'marked';
  const left = sparedAs(vector, spared);
  if (left !== null) return left;
  const verdict = inForce.verdicts.get(network);
  const isOfEdge = enforced !== 'deny' || principal !== undefined;
  if (isOfEdge && verdict !== undefined && verdict.source !== engineSource) return 'operator';
  const before = inForce.ours.get(network);
  if (before === undefined) return null;
  const isDenied = inForce.denied.has(network);
  const stands = before.enforced === 'deny' && principal === undefined ? isDenied : verdict !== undefined || isDenied;
  // somebody has taken it away before its end: it does not come back until then
  return stands ? null : 'lifted';
}

/** Whether the same stands, or something stronger, for most of its time. */
function isInForce(network: string, enforced: Enforced, inForce: InForce, now: Date, policy: Policy): boolean {
  const halfway = now.getTime() + policy.blockMs / 2;
  const denied = inForce.denied.get(network);
  if (denied !== undefined && denied.getTime() >= Math.min(halfway, now.getTime() + 1)) {
    if (enforced !== 'deny') return true;
    return denied.getTime() > halfway;
  }
  const verdict = inForce.verdicts.get(network);
  if (verdict === undefined || verdict.until.getTime() <= halfway) return false;
  // of a network there is no denial among them
  return enforcements.indexOf(verdict.action as Enforced) <= enforcements.indexOf(enforced);
}

export interface EnforceParts extends Pick<Parts, 'audit'> {
  /** Networks of proxies in front of nodes. They come from outside: a transaction reads nothing by another handle. */
  readonly proxies: readonly string[];
}

export interface Enforcement {
  /** By network; who is not in it has nothing to fear. */
  readonly measures: ReadonlyMap<string, Measure>;
  readonly denied: number;
  readonly others: number;
}

const nothing: Measure = { enforced: null, until: null, heldBack: null };

/**
 * Puts in force what verdicts come to. `judged`: highest risk first. Nothing with `ai_action` monitor.
 */
export async function enforce(
  tx: Tx,
  parts: EnforceParts,
  policy: Policy,
  judged: readonly Judged[],
  now: Date,
): Promise<Enforcement> {
  const measures = new Map<string, Measure>();
  const due = judged.filter(({ scored }) => rank(scored.verdict) > 0);
  if (policy.action === 'monitor' || due.length === 0) return { measures, denied: 0, others: 0 };
  for (const { vector } of due.slice(measuresMax)) measures.set(vector.address, { ...nothing, heldBack: 'full' });
  const chosen = due.slice(0, measuresMax);
  const inForce = await inForceOf(
    tx,
    chosen.map(({ vector }) => vector.address),
    now,
  );
  const people = await addressesOfPeople(tx, now);
  const until = new Date(now.getTime() + policy.blockMs);
  const fresh: Judged[] = [];
  for (const one of chosen) {
    const network = one.vector.address;
    const enforced = enforcementOf(one.scored.verdict) as Enforced;
    const heldBack = heldBackOf(one.vector, enforced, inForce, { people, proxies: parts.proxies });
    if (heldBack !== null) measures.set(network, { ...nothing, heldBack });
    else if (!isInForce(network, enforced, inForce, now, policy)) {
      measures.set(network, { enforced, until, heldBack: null });
      fresh.push(one);
    }
  }
  const isOfAddress = ({ vector, scored }: Judged): boolean =>
    scored.verdict === 'BLOCK' && vector.principal === undefined;
  const denied = fresh.filter(isOfAddress);
  const others = fresh.filter((one) => !isOfAddress(one));
  await deny(tx, parts, denied, now, until);
  await decideOver(tx, parts, others, now, until);
  return { measures, denied: denied.length, others: others.length };
}

/** In a sentence: the strongest signals, and who else is reached, or is not. */
export function reasonOf({ scored, vector }: Judged): string {
  const strongest = scored.signals.slice(0, 3).map(({ name }) => name);
  const others = collateralOf(vector);
  return `risk ${scored.risk}: ${strongest.join(', ')}${others === '' ? '' : `; ${others}`}`.slice(0, 500);
}

/** Whom a verdict reaches besides, and whether one on a principal stands in the place of its address; '': nobody. */
export function collateralOf({ principal, apart = [], sessions }: FeatureVector): string {
  if (principal !== undefined) {
    const { networks, addresses, addresses_clean: clean } = principal;
    if (isShared({ principal }))
      return `${clean} of ${addresses} addresses use this credential without a fault: it seems to be many people's`;
    const where = addresses === 1 ? String(networks[0]) : `its ${addresses} addresses`;
    return `on the principal instead of ${where}: others there go on`;
  }
  const behind = sessions > 1 ? `${sessions} sessions behind this address` : '';
  if (apart.length === 0) return behind;
  const own =
    apart.length === 1
      ? '1 principal with a verdict of its own'
      : `${apart.length} principals with verdicts of their own`;
  return behind === '' ? `without ${own}` : `${behind}, without ${own}`;
}

/** Those that this engine denied until that moment at least, though it may have ended meanwhile. */
async function deniedSince(tx: Tx, networks: readonly string[], since: Date): Promise<ReadonlySet<string>> {
  const rows = await tx<{ subject: string }[]>`
    select subject from client_measures where source = ${engineSource} and action = 'deny' and lifted_at is null
      and expires_at > ${since}
      and subject in (select value from json_array_elements_text(${asJson(networks)}::text::json))`;
  return new Set(rows.map(({ subject }) => subject));
}

async function deny(tx: Tx, { audit }: EnforceParts, judged: readonly Judged[], now: Date, until: Date): Promise<void> {
  if (judged.length === 0) return;
  const denials = judged.map((one) => ({ subject: one.vector.address, reason: reasonOf(one), expiresAt: until }));
  const networks = denials.map(({ subject }) => subject);
  const renewed = await deniedSince(tx, networks, new Date(2 * now.getTime() - until.getTime()));
  await addEachDenial(tx, denials, { source: engineSource, addedBy: engineName }, now);
  // other systems hear of its beginning, and not of each renewal (a trigger of api/measures does this for verdicts)
  const begun = denials.filter(({ subject }) => !renewed.has(subject));
  await noteEvents(
    tx,
    'verdict',
    now,
    begun.map(({ subject, reason }) => ({
      ...{ network: subject, action: 'deny', reason, added_by: engineName, expires_at: until.toISOString() },
    })),
  );
  await audit.record(tx, {
    actor: systemActor,
    action: 'ai.block',
    summary:
      judged.length === 1
        ? `denied ${judged[0]?.vector.address}: ${reasonOf(judged[0] as Judged)}`
        : `denied ${judged.length} clients`,
    details: detailsOf(judged, until),
  });
}

async function decideOver(
  tx: Tx,
  { audit }: EnforceParts,
  judged: readonly Judged[],
  now: Date,
  until: Date,
): Promise<void> {
  if (judged.length === 0) return;
  await decide(
    tx,
    judged.map((one) => ({
      subject: one.vector.address,
      action: enforcementOf(one.scored.verdict) as Enforced,
      reason: reasonOf(one),
      expiresAt: until,
    })),
    { source: engineSource, addedBy: engineName },
    now,
  );
  const denied = judged.filter(({ scored }) => scored.verdict === 'BLOCK');
  const others = judged.filter(({ scored }) => scored.verdict !== 'BLOCK');
  if (denied.length > 0)
    await audit.record(tx, {
      actor: systemActor,
      action: 'ai.block',
      summary: denied.length === 1 ? `denied ${nameOf(denied[0])}` : `denied ${denied.length} principals`,
      details: detailsOf(denied, until),
    });
  if (others.length > 0)
    await audit.record(tx, {
      actor: systemActor,
      action: 'verdict.add',
      summary: `the detection engine challenged or slowed down ${others.length} clients`,
      details: detailsOf(others, until),
    });
}

const nameOf = (one: Judged | undefined): string =>
  one === undefined ? '' : `the principal ${one.vector.address}: ${reasonOf(one)}`;

const detailsOf = (judged: readonly Judged[], until: Date): Record<string, unknown> => ({
  clients: judged.slice(0, 20).map(({ vector, scored }) => ({
    network: vector.address,
    verdict: scored.verdict,
    risk: scored.risk,
    sessions: vector.sessions,
    ...(vector.principal === undefined ? {} : { principal: vector.principal }),
  })),
  expires_at: until.toISOString(),
});
