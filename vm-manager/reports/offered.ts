// Which sections a report can have, and what each is made of.
import { ApiError } from '#http-kit';
import { allOf } from '../database.js';
import { visibleFindings } from '../findings/query.js';
import { scopeOf } from '../graph/scope.js';
import { currentChains } from '../graph/live-engine.js';
import { requireWhole, type Reach } from '../kit/caller.js';
import type { Acting } from '../kit/endpoint.js';
import { chainSection } from './sections/chain-report.js';
import { findingsSection } from './sections/open-findings.js';
import { firewallSection } from './sections/firewall-activity.js';
import type { Section } from './report.js';

export const sections = {
  'attack-chains': {
    title: 'Attack Chains and Toxic Combinations',
    description: 'four figures and the fifty gravest chains by score',
  },
  'open-findings': {
    title: 'Open Findings',
    description:
      'how many are open, critical, known to be exploited and overdue, and the fifty of the highest priority',
  },
  'security-events': {
    title: 'Attacks and Decisions',
    description: 'what the firewall recorded and blocked in the period, by day, kind and site; all sites',
  },
} as const;
export type SectionName = keyof typeof sections;
export const sectionNames = Object.keys(sections) as SectionName[];

/** The one application that a report is about. */
export interface Only {
  readonly id: string;
  readonly name: string;
}

interface ReportPeriod {
  readonly zone: string;
  readonly days: number;
  /** The first hour of the first day. */
  readonly from: Date;
}

type Asked = Pick<Acting, 'host' | 'sql' | 'now'>;

/** What each section is made of; every one keeps to the same scope. */
export const makers: Readonly<
  Record<SectionName, (call: Asked, reach: Reach, only: Only | null, period: ReportPeriod) => Promise<Section>>
> = {
  'security-events': async ({ host, now }, reach, _, { zone, from }) => {
    requireWhole(reach, 'Security events of all sites');
    if (host.firewallActivity === undefined)
      throw new ApiError('not_ready', 'This server has no firewall that records security events.');
    const period = { from, to: now };
    return firewallSection(await host.firewallActivity(period), sections['security-events'].title, { ...period, zone });
  },
  'attack-chains': async (call, reach, only) => {
    const engine = await currentChains(call.host);
    const asked = only === null ? {} : { application_id: only.id };
    const chains = engine.read(await scopeOf({ sql: call.sql, reach }, engine, asked));
    return chainSection(chains, sections['attack-chains'].title);
  },
  'open-findings': async ({ sql, now }, reach, only, period) => {
    const where = allOf(sql, [
      visibleFindings(sql, reach),
      sql`application_id in (select id from vm_applications where status = 'active')`,
      ...(only === null ? [] : [sql`application_id = ${only.id}`]),
    ]);
    return findingsSection(sql, where, sections['open-findings'].title, { now, ...period });
  },
};
