// What the tables know of a record beyond what its report says: the weakness of its rule, and whether its rule is about
// security. Every importer's records pass here, so that a finding is of one kind in all formats of its tool.
import type { FindingRecord } from '../record.js';
import { profileOf } from './tools.js';
import { weaknessesOf } from './weaknesses.js';

const namesWeakness = ({ cwes, vulnIds, cvss, extra }: FindingRecord): boolean =>
  cwes.length > 0 || vulnIds.length > 0 || cvss !== null || extra['security_severity'] !== undefined;

function isQuality(record: FindingRecord, tool: string): boolean {
  const profile = profileOf(tool);
  if (profile === null || record.source === 'secret' || record.source === 'sca') return false;
  const { ruleId } = record;
  if (profile.quality?.test(ruleId) === true) return true;
  return profile.security !== undefined && !profile.security.test(ruleId) && !namesWeakness(record);
}

/** The kind that the profile of the tool gives a rule; null: it says nothing of it. */
export function kindOfRule(tool: string, ruleId: string, title: string): FindingRecord['source'] | null {
  const profile = profileOf(tool);
  if (profile === null) return null;
  const named = profile.kinds?.find(([rule]) => rule.test(ruleId) || rule.test(title))?.[1];
  return named ?? profile.kind ?? null;
}

export function enriched(record: FindingRecord, reportTool: string): FindingRecord {
  const tool = record.tool ?? reportTool;
  if (isQuality(record, tool)) return { ...record, source: 'quality' };
  const isSecret = record.source === 'sast' && kindOfRule(tool, record.ruleId, record.title) === 'secret';
  const kind = isSecret ? ({ source: 'secret' } as const) : {};
  if (record.cwes.length > 0) return isSecret ? { ...record, ...kind } : record;
  const cwes =
    isSecret || record.source === 'secret' ? [798] : weaknessesOf(tool, record.ruleId, record.title, record.tags);
  return cwes.length === 0 && !isSecret ? record : { ...record, ...kind, cwes };
}
