// What grows old: certificates, lists of addresses, the managed feed, files that say where clients are.
import type { HealthPart, HealthState } from '#vm-manager';
import { warningOf } from '../../certificates/schedule.js';
import { listCertificates, listIssues } from '../../certificates/store.js';
import { servedOf } from '../../certificates/warn.js';
import { findManagedRow } from '../../managed-feed/store.js';
import { listFeeds } from '../../threat-intel/feed-store.js';
import { spanText } from '#vm-manager';
import { ago, dayS, ofParts, since, type Look } from './kit.js';

export const judgeCertificates: Look = async ({ database: { sql } }, now) => {
  const served = servedOf(await listIssues(sql));
  const left: number[] = [];
  const parts = (await listCertificates(sql)).flatMap((row): HealthPart[] => {
    if (row.revoked_at !== null) return [];
    const name = row.names.split(' ').join(', ').slice(0, 200);
    const issue = served.get(row.id);
    if (issue === undefined)
      return [{ name, state: row.last_error === null ? 'unknown' : 'failing', text: row.last_error ?? 'is ordered' }];
    const endsS = (issue.not_after.getTime() - now.getTime()) / 1000;
    left.push(endsS);
    const times = { notBeforeMs: issue.not_before.getTime(), notAfterMs: issue.not_after.getTime() };
    const due = warningOf({ ...times, isRenewed: row.next_attempt_at !== null }, now.getTime());
    const state: HealthState = due === null ? 'ok' : due <= 1 ? 'failing' : 'warning';
    const when = endsS <= 0 ? `ended ${ago(issue.not_after, now)}` : `ends in ${spanText(endsS)}`;
    return [{ name, state, text: row.last_error === null ? when : `${when}; renewing failed: ${row.last_error}` }];
  });
  const action = 'Renew it, or upload another (Sites, Certificates): the error says what the authority wants.';
  return ofParts('certificates', parts, {
    noun: 'certificate',
    none: 'No certificate is kept here',
    measure:
      left.length === 0 ? null : { name: 'until the next ends', value: Math.round(Math.min(...left)), unit: 'seconds' },
    actions: { failing: action, warning: action },
  });
};

const oldS = 7 * dayS;

/** Of a list that is fetched: as old as its last good copy. */
function judgeList(name: string, goodAt: Date | null, error: string | null, now: Date): HealthPart {
  if (goodAt === null) return { name, state: error === null ? 'unknown' : 'failing', text: error ?? 'not fetched yet' };
  const isOld = since(goodAt, now) > oldS;
  const text = `fetched ${ago(goodAt, now)}`;
  if (error !== null) return { name, state: isOld ? 'failing' : 'warning', text: `${text}; since then: ${error}` };
  return { name, state: isOld ? 'warning' : 'ok', text };
}

export const judgeFeeds: Look = async ({ database: { sql }, locations }, now) => {
  const [feeds, managed] = [await listFeeds(sql), await findManagedRow(sql)];
  const lists = feeds.map(({ name, succeeded_at: at, last_error: error }) => judgeList(name, at, error, now));
  if (managed !== null) lists.push(judgeList('managed feed', managed.fetched_at, managed.last_error, now));
  await locations.refresh();
  const files = locations.states().map(
    ({ of, status }): HealthPart => ({
      name: `locations (${of})`,
      state: status === 'ok' ? 'ok' : status === 'old' ? 'warning' : 'failing',
      text: status === 'ok' ? 'is read' : `the file is ${status}`,
    }),
  );
  const ages = feeds.flatMap(({ succeeded_at: at }) => (at === null ? [] : [since(at, now)]));
  return ofParts('feeds', [...lists, ...files], {
    noun: 'list',
    none: 'No list is fetched',
    measure: ages.length === 0 ? null : { name: 'oldest', value: Math.round(Math.max(...ages)), unit: 'seconds' },
    actions: {
      failing:
        'Open the address of the list from this machine (Client measures, Threat feeds); private addresses need ' +
        'OUTBOUND_ALLOW.',
      warning: 'The last copy stays in use. If it goes on, open the address of the list from this machine.',
    },
  });
};
