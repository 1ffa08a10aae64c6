// What checks take as evidence, each made from the facts of a report.
import type { Settings } from '#settings';
import type { Facts, SeenEvent } from './facts.js';
import type { CheckResult, Evidence } from './result.js';

export type Check = (facts: Facts) => CheckResult;

export const notApplied = 'No version of the settings was applied yet: nothing is protected.';

export const now = (kind: 'state' | 'self-test', text: string, link: string): Evidence => ({
  kind,
  text,
  at: null,
  link,
});

/** Nodes that serve the active version: activation needs that probes were answered as expected. */
export function nodesServe({ nodes, activeId }: Facts): { readonly wrong: string[]; readonly evidence: Evidence[] } {
  const away = nodes.filter(({ serves }) => !serves).map(({ url }) => url);
  return {
    wrong: away.length === 0 ? [] : [`These nodes do not serve version ${String(activeId)}: ${away.join(', ')}.`],
    evidence: nodes
      .filter(({ serves }) => serves)
      .map(({ url, seenAt }) => ({
        kind: 'self-test',
        text: `${url} serves version ${String(activeId)}, which it activated after its probes were answered`,
        at: seenAt,
        link: '/api/nodes',
      })),
  };
}

export function hitsOf({ ruleGroups, daysBack }: Facts, groups: readonly number[]): Evidence[] {
  const found = ruleGroups.filter(({ group, hits }) => groups.includes(group) && hits > 0);
  return found.map(({ group, hits, lastAt }) => ({
    kind: 'event',
    text: `rules ${group}xxx tripped ${hits} times within ${daysBack} days`,
    at: lastAt,
    link: '/api/rules/evidence',
  }));
}

export const blocked = ({ refused }: Facts, status: number): Evidence[] =>
  refusal(refused.get(status) ?? null, `with ${status}`);

/** `how`: what was answered, or which rule it was; nothing where there was no such request. */
export function refusal(seen: SeenEvent | null, how: string): Evidence[] {
  if (seen === null) return [];
  const link = `/api/events?request_id=${encodeURIComponent(seen.requestId)}`;
  return [{ kind: 'event', text: `request ${seen.requestId} was refused ${how}`, at: seen.at, link }];
}

export function audited({ audit }: Facts, actions: readonly string[]): Evidence[] {
  return actions.flatMap((action): Evidence[] => {
    const entry = audit.lastByAction.get(action);
    if (entry === undefined) return [];
    const text = `audit entry ${entry.id}: ${action} by ${entry.actor}`;
    return [{ kind: 'audit', text, at: entry.at, link: `/api/audit?action=${action}` }];
  });
}

/** What is wrong with the active settings; nothing is right without them. */
export const ofActive = ({ active }: Facts, ask: (settings: Settings) => string[]): string[] =>
  active === null ? [notApplied] : ask(active);

/** Sites that are not protected by blocking rules, by name. */
export function unprotectedSites(settings: Settings): string[] {
  return settings.sites.flatMap((site) => {
    if (!site.protected) return [`Site ${site.name} is not protected.`];
    return (site.mode ?? settings.mode) === 'On' ? [] : [`Site ${site.name} only logs.`];
  });
}

/** Two critical rules of OWASP CRS v4: a higher threshold lets what only one or two of them see pass. */
const thresholdMax = 10;

/** Where rules match and the sum of their scores hardly ever blocks. */
export function highThresholds(settings: Settings): string[] {
  const of = (threshold: number, where: string): string[] =>
    threshold <= thresholdMax
      ? []
      : [`inbound_threshold${where} is ${threshold}; above ${thresholdMax} two critical rules block nothing.`];
  return [
    ...of(settings.inbound_threshold, ''),
    ...settings.sites.flatMap(({ name, inbound_threshold: own }) => (own === null ? [] : of(own, ` of site ${name}`))),
  ];
}

/** The last self-test of the site that is named for it. */
export function selfTested({ selfTest }: Facts): Evidence[] {
  if (selfTest === null) return [];
  const { id, site, attacks, stopped, endedAt } = selfTest;
  const text = `self-test ${id}: ${stopped} of ${attacks} attacks on site ${site} were stopped`;
  return [{ kind: 'self-test', text, at: endedAt, link: '/api/ai/self-tests' }];
}
