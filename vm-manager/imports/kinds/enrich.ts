// What the tables know of a record beyond what its report says: the weakness of its rule, and whether its rule is about
// security. Every importer's records pass here, so that a finding is of one kind in all formats of its tool.
import type { FindingRecord } from '../record.js';
import { analyzerOf, type Analyzer } from './analyzer.js';
import { isSecretRule, isSecretTool } from './secrets.js';
import { weaknessesOf } from './weaknesses.js';

const namesWeakness = ({ cwes, vulnIds, cvss, extra }: FindingRecord): boolean =>
  cwes.length > 0 || vulnIds.length > 0 || cvss !== null || extra['security_severity'] !== undefined;

const securityTag = /^(?:security|vulnerability|owasp|cwe)(?![a-z])|[-_ /](?:security|vulnerability)$/i;
/** `lint/security/x`, `Security/X`, `category/java/security.xml/X`, `acme-security.x`. */
const securityRule = /(?:^|[/:.-])\w*security(?:\.xml)?[/:.]/i;
/** Words that no rule of style needs. */
const securityWords = new RegExp(
  [
    'security[- ](?:risk|issue|hole|hotspot|flaw|problem|sensitive|vulnerab|bug)|vulnerab|\\btaint|cr' +
      'oss[- ]site|\\bxss\\b',
    '\\b(?:sql|nosql|code|command|shell|html|script|template|ldap|xpath|xml|log|crlf|header|argument) injection',
    '\\bssrf\\b|\\bxxe\\b|\\bcsrf\\b|hard-?coded (?:password|secret|credential|token|api key)|(?:path' +
      '|directory) traversal',
    'prototype pollution|\\bredos\\b|untrusted (?:input|data)|potentially untrusted|arbitrary code|remote code',
    'insecure (?:hash|cipher|random|protocol|cookie|deserial|temp)|weak (?:hash|cipher|crypto)',
  ].join('|'),
  'i',
);
const wordsMax = 400;

/** The rule's id as reported and as the tables have it, and its name where the title is one. */
const namesOfRule = ({ ruleId, title }: FindingRecord, { profile, rule }: Analyzer): readonly string[] => [
  ...new Set([ruleId, rule, profile?.spelled?.(rule) ?? rule]),
  ...(/^[\w@./:()-]{1,200}$/.test(title) ? [title] : []),
];

/** Words that no name of a rule of style has; `noDocumentCookie` is read as `no-document-cookie`. */
const securityNames = new RegExp(
  '(?:^|[^a-z])(?:insecure|vulnerab\\w+|unsanitized|xss|csrf|xsrf|ssrf|xxe|redos|taint|tainted|deserializ\\w+|' +
    'hijack\\w*|' +
    'tapjacking|clickjacking|spoof\\w*|sandbox|cookies?|passwords?|passwd|credentials?|secrets?|traversal|' +
    '(?:sql|command|code|shell|html|script|template|ldap|xpath|xml|log|header|crlf)-?injection|(?:raw|' +
    'unsafe)-?(?:sql|query))' +
    '(?![a-z])',
);
const namesSecurity = (name: string): boolean =>
  securityNames.test(
    name
      .slice(0, 200)
      .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
      .replace(/_/g, '-')
      .toLowerCase(),
  );

const saysSecurity = ({ tags, ruleId, title, description }: FindingRecord): boolean =>
  tags.some((tag) => securityTag.test(tag)) ||
  securityRule.test(ruleId) ||
  securityWords.test(title) ||
  securityWords.test(description.slice(0, wordsMax));

/** A rule that is about security is never hidden, whether the lists, its weakness, the report or its name say so. */
function isQuality(record: FindingRecord, analyzer: Analyzer, known: readonly number[]): boolean {
  const { profile } = analyzer;
  if (profile === null || record.source === 'secret' || record.source === 'sca') return false;
  const names = namesOfRule(record, analyzer);
  if (profile.quality?.test(record.ruleId) === true || profile.quality?.test(analyzer.rule) === true) return true;
  const { security, style } = profile;
  if (security === undefined || known.length > 0 || names.some((name) => security.test(name))) return false;
  if (namesWeakness(record) || saysSecurity(record)) return false;
  if (style === undefined) return !names.some(namesSecurity);
  return names.some((name) => style.test(name));
}

/** Kinds in the name of a tool that no table has. */
const kindOfName: readonly (readonly [words: RegExp, kind: FindingRecord['source']])[] = [
  [/\bSCA\b|(?:software composition|dependency|open[- ]?source) (?:analysis|scan\w*|check\w*)/i, 'sca'],
  [/\bIaC\b|infrastructure[- ]as[- ]code/i, 'iac'],
  [/\bDAST\b/, 'dast'],
  [/\bCSPM\b/, 'cspm'],
];

/** The kind that tool and rule give a finding; null: they say nothing of it. */
export function kindOfRule(tool: string, ruleId: string, title: string): FindingRecord['source'] | null {
  const { profile, rule: own } = analyzerOf(tool, ruleId);
  if (profile === null) {
    if (isSecretTool(tool) || isSecretRule(ruleId)) return 'secret';
    // of any maker: `Checkmarx SCA`, `Acme IaC Scanner`
    return kindOfName.find(([words]) => words.test(tool.slice(0, 200)))?.[1] ?? null;
  }
  const named =
    profile.kinds?.find(([rule]) => rule.test(ruleId) || rule.test(own) || rule.test(title))?.[1] ?? profile.kind;
  if (named !== undefined) return named;
  const isLinter = profile.security !== undefined || profile.quality !== undefined;
  return !isLinter && isSecretRule(ruleId) ? 'secret' : null;
}

export function enriched(record: FindingRecord, reportTool: string): FindingRecord {
  const tool = record.tool ?? reportTool;
  const analyzer = analyzerOf(tool, record.ruleId, 'path' in record.location ? record.location.path : '');
  const known = weaknessesOf(tool, record, analyzer);
  if (isQuality(record, analyzer, known)) return { ...record, source: 'quality' };
  const isSecret = record.source === 'sast' && kindOfRule(tool, record.ruleId, record.title) === 'secret';
  const kind = isSecret ? ({ source: 'secret' } as const) : {};
  if (record.cwes.length > 0) return isSecret ? { ...record, ...kind } : record;
  const cwes = isSecret || record.source === 'secret' ? [798] : known;
  return cwes.length === 0 && !isSecret ? record : { ...record, ...kind, cwes: [...cwes] };
}
