// Finding → capability: the weakness first, then words of the title. Deterministic and total; a finding has one
// capability or none. The order of the questions is the specification's (Part 2, "Stages").
import type { Capability } from './capability.js';
import { byWeakness, isHygiene, wordsOnly } from './cwe-table.js';
import { isComponent, vulnerableComponent, wordsOfWeakness } from './cwe-words.js';
import { byWords, isHygieneTitle, metadataService, type Surroundings } from './keywords.js';
import { readTitle, readWeaknesses, type Weakness } from './words.js';

/** What the classification reads of a finding. */
export interface Classifiable {
  readonly title: string;
  readonly cwe: Weakness;
  /** critical, high, medium, low or info. */
  readonly severity: string;
  /** Runtime or exploit proof. */
  readonly confirmed: boolean;
  readonly source?: string | null | undefined;
  readonly cves?: readonly string[] | undefined;
  readonly location?: string | null | undefined;
}

/** Facts beside the capability that rules of toxic combinations ask for; they never change a stage. */
export const flag = { metadata: 1, pipeline: 2, database: 4, secondFactor: 8 } as const;

export interface Classification {
  readonly capability: Capability;
  /** Sum of `flag`s. */
  readonly flags: number;
}

const onlyWithWords: ReadonlySet<number> = new Set(wordsOnly);

function byNumber(number: number, title: string, finding: Classifiable, around: Surroundings): Capability | null {
  const rules = wordsOfWeakness.get(number);
  const named = rules === undefined ? null : byWords(title, around, rules);
  if (named !== null) return named;
  const grave = finding.severity === 'high' || finding.severity === 'critical';
  if (isComponent(number) && around.hasCve && grave) return vulnerableComponent;
  return byWeakness.get(number) ?? null;
}

const isKnown = (number: number): boolean => byWeakness.has(number) || onlyWithWords.has(number) || isHygiene(number);

function capabilityOf(finding: Classifiable, title: string): Capability | null {
  if (finding.severity === 'info' && !finding.confirmed) return null;
  const numbers = readWeaknesses(finding.cwe);
  const around: Surroundings = {
    source: (finding.source ?? '').toLowerCase(),
    hasCve: (finding.cves?.length ?? 0) > 0 || /\bcve-\d{4}-\d{4,}/u.test(title),
  };
  if (numbers.length === 0 && isHygieneTitle(title, around.hasCve)) return null;
  for (const number of numbers) {
    const found = byNumber(number, title, finding, around);
    if (found !== null) return found;
  }
  // A weakness that is known and gives nothing is an answer; words speak only where none is known.
  return numbers.some(isKnown) ? null : byWords(title, around);
}

const pipelineWords = /\bci\b|pipeline|workflow|github action|pull_request_target|unpinned action|runner/u;
const databaseWords = /\b(database|db|mongodb|postgres\w*|mysql|redis|elasticsearch|etcd|mssql|sql server)\b/u;
const factorWords = /\b(mfa|2fa|multi-?factor|second factor|two-?factor)\b/u;
/** Holds wherever one of the patterns above may; most titles have none of it. */
const anyFlag =
  /ci\b|pipeline|workflow|action|pull_r|runner|d(b|atabase)|mongo|postgres|mysql|redis|elastic|etcd|sql|fa\b|factor/u;

function flagsOf(title: string, location: string): number {
  const reaches = metadataService.test(title) || (location !== '' && metadataService.test(location));
  const others = !anyFlag.test(title)
    ? 0
    : (pipelineWords.test(title) ? flag.pipeline : 0) |
      (databaseWords.test(title) ? flag.database : 0) |
      (factorWords.test(title) ? flag.secondFactor : 0);
  return (reaches ? flag.metadata : 0) | others;
}

/** The flags of a finding, whatever its capability is. */
export const flagsOfFinding = ({ title, location }: Pick<Classifiable, 'title' | 'location'>): number =>
  flagsOf(readTitle(title), (location ?? '').slice(0, 500).toLowerCase());

/** The capability of a finding with its flags, or null where it brings an attacker no further. */
export function classify(finding: Classifiable): Classification | null {
  const title = readTitle(finding.title);
  const found = capabilityOf(finding, title);
  if (found === null) return null;
  return { capability: found, flags: flagsOf(title, (finding.location ?? '').slice(0, 500).toLowerCase()) };
}
