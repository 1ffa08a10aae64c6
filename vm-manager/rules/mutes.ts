// The mute of a rule: it holds for what the rule holds for, and ends with the rule or at its own end.
import type { Actor } from '#http-kit';
import { json, type Tx } from '../database.js';
import { applyMutes } from '../governance/mutes.js';
import { toMoment } from '../kit/endpoint.js';
import type { Predicate } from '../kit/predicate.js';
import { readRules } from './apply.js';

/**
 * Brings the mutes of rules to what the rules say: a rule mutes what it holds for, without what a rule before it that
 * stops holds for. Returns whether any was changed.
 */
export async function followRules(tx: Tx, actor: Actor, now: Date): Promise<boolean> {
  const stopped: Predicate[] = [];
  const wanted = new Map<number, { name: string; predicate: Predicate; reason: string; until: Date }>();
  for (const rule of await readRules(tx)) {
    const mute = rule.effects.find(({ set }) => set === 'mute');
    const until = mute?.until === undefined ? null : toMoment(mute.until, '/until');
    const others = stopped.map((predicate) => ({ not: predicate }));
    const predicate = others.length === 0 ? rule.predicate : { and: [rule.predicate, ...others] };
    if (until !== null && until > now)
      wanted.set(rule.id, { name: rule.name, predicate, reason: mute?.reason ?? rule.name, until });
    if (rule.stop) stopped.push(rule.predicate);
  }
  const standing = await tx<
    { id: number; rule_id: number; predicate: unknown; reason: string; name: string; expires_at: Date }[]
  >`
    select id, rule_id, predicate, reason, name, expires_at from vm_mutes where rule_id is not null for update`;
  let isChanged = false;
  for (const mute of standing) {
    const want = wanted.get(mute.rule_id);
    wanted.delete(mute.rule_id);
    if (want === undefined) await tx`delete from vm_mutes where id = ${mute.id}`;
    else if (isSame(mute, want)) continue;
    else
      await tx`
        update vm_mutes set name = ${want.name}, predicate = ${json(tx, want.predicate)}, reason = ${want.reason},
          expires_at = ${want.until}, looked_snapshot = null, looked_at = null, version = version + 1,
          updated_at = ${now}
        where id = ${mute.id}`;
    isChanged = true;
  }
  for (const [ruleId, { name, predicate, reason, until }] of wanted) {
    await tx`
      insert into vm_mutes (name, predicate, reason, expires_at, created_by, created_at, updated_at, rule_id)
      values (${name}, ${json(tx, predicate)}, ${reason}, ${until}, ${actor.name}, ${now}, ${now}, ${ruleId})`;
    isChanged = true;
  }
  if (isChanged) await applyMutes(tx, actor, now, { muted: 'all' });
  return isChanged;
}

interface Standing {
  readonly name: string;
  readonly predicate: unknown;
  readonly reason: string;
}

const isSame = (mute: Standing & { expires_at: Date }, want: Standing & { until: Date }): boolean =>
  mute.name === want.name &&
  mute.reason === want.reason &&
  mute.expires_at.getTime() === want.until.getTime() &&
  canonical(mute.predicate) === canonical(want.predicate);

/** The database gives the members of an object in an order of its own. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([left], [right]) => (left < right ? -1 : 1)))
      : one,
  );
