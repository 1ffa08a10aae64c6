// Changes of a target that scans have to heed. What lets a scan go further than before is for those who may start
// scans, and the audit entry has the bounds before and after; another origin is one that nothing proves.
import { ApiError } from '#http-kit';
import { isDeepStrictEqual } from 'node:util';
import type { Fragment, Queryable, Tx } from '../database.js';
import type { Reach } from '../kit/caller.js';
import type { Call } from '../kit/endpoint.js';
import type { Row } from '../kit/resource.js';

type Values = Readonly<Record<string, unknown>>;
type Widens = (before: unknown, after: unknown) => boolean;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const lacks = (list: readonly unknown[], one: unknown): boolean => !list.some((other) => isDeepStrictEqual(other, one));

const losesOne: Widens = (before, after) => listOf(before).some((one) => lacks(listOf(after), one));
const gainsOne: Widens = (before, after) => listOf(after).some((one) => lacks(listOf(before), one));
const grows: Widens = (before, after) => Number(after) > Number(before);
const differs: Widens = (before, after) => !isDeepStrictEqual(before, after);
/** Of lists where none means everything. */
const widensList: Widens = (before, after) =>
  listOf(before).length > 0 && (listOf(after).length === 0 || gainsOne(before, after));

/** Bounds of scans, and when a change of one lets them go further. */
const bounds: Readonly<Record<string, Widens>> = {
  scope_paths: widensList,
  excluded_paths: losesOne,
  scan_methods: gainsOne,
  requests_max: grows,
  requests_per_second: grows,
  seconds_max: grows,
  scan_windows: widensList,
  exploit_writes: (_, after) => after === true,
  // the target is made to ask there
  callback_url: (before, after) => after !== null && differs(before, after),
};

const changedIn = (before: Values, after: Values): string[] =>
  Object.keys(bounds).filter((name) => after[name] !== undefined && differs(before[name], after[name]));

/** For the audit log. */
export function boundsChanged(before: Values, after: Values): Values {
  const names = [...changedIn(before, after), ...['url', 'waf_url'].filter((name) => before[name] !== after[name])];
  if (names.length === 0) return {};
  const pick = (row: Values) => Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
  return { before: pick(before), after: pick(after) };
}

const originOf = (address: unknown): string =>
  typeof address === 'string' && URL.canParse(address) ? new URL(address).origin : '';

/** Takes proofs away that no longer hold; throws `role_denied` where the caller may not widen the bounds. */
export async function checkTargetChange(
  tx: Tx,
  call: Call,
  values: Record<string, unknown>,
  before: Row,
  visible: (sql: Queryable, reach: Reach) => Fragment,
): Promise<void> {
  const given = (name: string): unknown => (values[name] === undefined ? before[name] : values[name]);
  if (given('url') !== before['url'])
    Object.assign(values, { verified_at: null, verified_by: null, waf_verified_at: null, waf_verified_by: null });
  if (originOf(given('waf_url')) !== originOf(before['waf_url']))
    Object.assign(values, { waf_verified_at: null, waf_verified_by: null });
  const widened = changedIn(before, values).filter((name) => bounds[name]?.(before[name], values[name]) === true);
  if (widened.length === 0) return;
  const reach = call.caller.reach('run_scans', true);
  const [row] =
    reach === null ? [] : await tx`select 1 from vm_targets where id = ${before.id} and ${visible(tx, reach)}`;
  if (row === undefined)
    throw new ApiError(
      'role_denied',
      `Scans would go further by this change of ${widened.join(', ')}: that needs the permission run_scans.`,
    );
}
