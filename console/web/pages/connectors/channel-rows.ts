// Alert rules by the channel that they notify.
import type { Item } from '../../client/http.js';

type Rule = Pick<Item<'GET /api/alerts'>, 'id' | 'name' | 'type' | 'target'>;

export interface Channel {
  readonly key: string;
  readonly type: Rule['type'];
  /** As it is shown, with its secret part hidden. Channels that differ only in that part stay separate. */
  readonly target: string;
  readonly rules: readonly string[];
  /** A rule whose test goes there. */
  readonly ruleId: string;
}

/** A target with asterisks may be several: it is listed by rule. */
export function channelsOf(rules: readonly Rule[]): Channel[] {
  const channels = new Map<string, Channel>();
  for (const { id, name, type, target } of rules) {
    const key = target.includes('********') ? `${type} ${target} ${id}` : `${type} ${target}`;
    const before = channels.get(key);
    const names = [...(before?.rules ?? []), name];
    channels.set(key, { key, type, target, rules: names, ruleId: before?.ruleId ?? id });
  }
  return [...channels.values()];
}
