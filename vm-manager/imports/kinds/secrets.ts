// Leaked secrets: which tools look for nothing else, which rules are of such tools, and the severity of one whose
// report rates nothing: what opens a whole account is critical.
import type { Severity } from '../../findings/words.js';

const critical = /private[-_ ]?key|aws|gcp|azure|cloud/i;

export const severityOfSecret = (ruleAndTitle: string): Severity => (critical.test(ruleAndTitle) ? 'critical' : 'high');

/**
 * What tools write in place of a secret, or behind its beginning: it tells no two of them apart. Longer texts are code
 * that was cut, by which its secret is known.
 */
export const redacted =
  /^(?:[*•x\s]+|[[<(]?(?:redacted|masked|hidden|removed|filtered)[\])>]?|.{0,200}(?:\.{3}|…|\*{3}))$/i;

const secretTool = /secret|credential|cred[-_ ]?scan|(?:^|[^a-z])leaks?(?:[^a-z]|$)|gitleaks|truffle/i;

/** A tool that is not listed, whose name says what it looks for. */
export const isSecretTool = (tool: string): boolean => secretTool.test(tool);

const things = [
  '(?:api|access|secret|private|signing|encryption|master|account|storage|service[-_ ]?account|deploy|ssh|webhook)',
  '[-_ ]?key(?:[-_ ]?id)?|(?:api|access|auth|bearer|bot|oauth2?|refresh|personal|deploy|session|use' +
    'r|app|pipeline|runner)',
  '[-_ ]?tokens?|(?:github|gitlab|npm|pypi|slack|azure|atlassian|jira|digitalocean|databricks)[-_ ]' +
    '(?:\\w+[-_ ])?(?:token|pat)',
  '|(?:client|app|webhook|shared|generic|exposed|leaked|committed)[-_ ]?secret|(?:generic|exposed|l' +
    'eaked|committed|hard-?coded)',
  '[-_ ]?(?:secret|password|passwd|credential|token|key)s?|(?:\\w+[-_ ])?(?:app[-_ ]?)?pat|webhook[' +
    '-_ ]?url|connection[-_ ]?string',
].join('');
const secretRule = new RegExp(
  `^(?:[a-z0-9]+[-_ ]){0,6}(?:${things})(?:[-_ ]?(?:v?\\d{1,2}|value|detected|found))?$`,
  'i',
);
/** Rules about how something is done with a secret; nothing has leaked there. */
const practice = new RegExp(
  '(?:^|[^a-z])(?:missing|insecure|weak|invalid|unvalidated|verif\\w*|no|check|empty|plain ?text|cl' +
    'ear ?text|log|logs|logging|timing|compar\\w*|rotat\\w*|unencrypted|csrf|xsrf|unused|expired|requ' +
    'ire\\w*|disable\\w*|enforce\\w*|ensure|short|cors|jwt)(?:[^a-z]|$)',
  'i',
);

/** Keys and tokens in Microsoft's scanners, whatever tool runs them: `SEC101/102`. */
const ofSecurityUtilities = /^SEC10\d\/\d{3}$/;

/** A report has few rules and many results. */
const judged = new Map<string, boolean>();
const judgedMax = 2000;

/** Rules such as `generic-api-key`, `github-pat`, `AWS Access Key` of a tool whose kind is not known. */
export function isSecretRule(ruleId: string): boolean {
  if (ruleId.length > 120) return false;
  const known = judged.get(ruleId);
  if (known !== undefined) return known;
  const isSecret =
    ofSecurityUtilities.test(ruleId) ||
    (secretRule.test(ruleId.slice(1 + Math.max(...['/', '.', ':'].map((mark) => ruleId.lastIndexOf(mark))))) &&
      !practice.test(ruleId));
  if (judged.size >= judgedMax) judged.clear();
  judged.set(ruleId, isSecret);
  return isSecret;
}
