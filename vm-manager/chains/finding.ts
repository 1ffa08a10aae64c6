// What the chain engine reads of findings and applications, and the orders between findings. Pure: rows come as
// arguments, and the same rows give the same chains in whatever order they come.
import { openStatuses } from '../findings/words.js';
import type { Capability } from './classification/capability.js';
import type { Weakness } from './classification/words.js';

export interface ChainApplication {
  readonly id: string;
  readonly name: string;
  readonly environment: string | null;
  /** critical, high, medium or low; null where nobody said. */
  readonly criticality: string | null;
  readonly projectId: string | null;
}

export interface ChainFinding {
  readonly id: string;
  readonly applicationId: string;
  readonly title: string;
  readonly cwe: Weakness;
  readonly cves?: readonly string[];
  /** critical, high, medium, low or info. */
  readonly severity: string;
  readonly status: string;
  readonly source?: string | null;
  /** 0 to 100. */
  readonly riskScore: number | null;
  /** 0 to 100; 0 is a value, null is none. */
  readonly riskOverride: number | null;
  readonly priorityScore: number | null;
  readonly reachable: boolean;
  /** Proven by an exploit. */
  readonly exploitConfirmed: boolean;
  /** Proven by a sensor in the running application. */
  readonly runtimeConfirmed?: boolean;
  /** A virtual patch stands before it. It is told and changes no chain and no score. */
  readonly mitigated?: boolean;
  readonly location?: string | null;
  /** What the organisation says that it gives, in place of the table; null: nothing, absent: the table holds. */
  readonly own?: Capability | null;
}

const open: ReadonlySet<string> = new Set(openStatuses);
/** Whether a finding can be a hop. Muted, accepted and closed findings make no chain. */
export const isOpen = (finding: ChainFinding): boolean => open.has(finding.status);

const floors: ReadonlyMap<string, number> = new Map([
  ['critical', 90],
  ['high', 70],
  ['medium', 45],
  ['low', 20],
  ['info', 5],
]);

/** Risk from 0 to 100, whole: the override where there is one, else the score, else what the severity says. */
export function effectiveRisk(finding: ChainFinding): number {
  const stated = finding.riskOverride ?? finding.riskScore;
  const known = stated !== null && Number.isFinite(stated) ? stated : (floors.get(finding.severity) ?? 0);
  return Math.min(100, Math.max(0, Math.floor(known + 0.5)));
}

/** Proof at run time, by an exploit, or both. */
export const isConfirmed = (finding: ChainFinding): boolean =>
  finding.exploitConfirmed || finding.runtimeConfirmed === true;

/** Production faces the internet; an application whose environment nobody named does not. */
export function isInternetFacing(application: ChainApplication): boolean {
  const environment = application.environment?.trim().toLowerCase();
  return environment === 'prod' || environment === 'production';
}

const criticalities: ReadonlyMap<string, number> = new Map([
  ['critical', 1000],
  ['high', 700],
  ['medium', 350],
  ['low', 100],
]);

/** Criticality in parts of a thousand. */
export const criticalityOf = (application: ChainApplication): number =>
  criticalities.get(application.criticality?.trim().toLowerCase() ?? '') ?? 0;

/** A crown jewel: what lateral movement aims at. */
export const isCrownJewel = (application: ChainApplication): boolean => criticalityOf(application) >= 700;

function isNumeral(id: string): boolean {
  for (let index = 0; index < id.length; index++) {
    const code = id.charCodeAt(index);
    if (code < 48 || code > 57) return false;
  }
  return id.length > 0;
}

/** Order of identifiers: numerals by value and before all others, the others by code units, never by a locale. */
export function compareIds(one: string, other: string): number {
  if (one === other) return 0;
  const isNumber = isNumeral(one);
  if (isNumber !== isNumeral(other)) return isNumber ? -1 : 1;
  if (isNumber) {
    const [a, b] = one.startsWith('0') || other.startsWith('0') ? [unpadded(one), unpadded(other)] : [one, other];
    if (a.length !== b.length) return a.length - b.length;
    if (a !== b) return a < b ? -1 : 1;
  }
  return one < other ? -1 : 1;
}
const unpadded = (numeral: string): string => numeral.replace(/^0+/u, '');

const priority = ({ priorityScore }: ChainFinding): number =>
  priorityScore !== null && Number.isFinite(priorityScore) ? priorityScore : -Infinity;

/** By priority, highest first; findings without one stand last. */
export function comparePriorities(one: ChainFinding, other: ChainFinding): number {
  const [a, b] = [priority(one), priority(other)];
  return a === b ? 0 : b > a ? 1 : -1;
}
