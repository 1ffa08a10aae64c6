// Gaps as records of the importer. One finding for each rule at each operation: messages and places in the document are
// its evidence, so that a document that moves by a line makes no new finding.
import { setImmediate } from 'node:timers/promises';
import type { ApiGap } from '../apis/port.js';
import { record, type FindingRecord } from '../imports/record.js';
import type { Severity } from '../findings/words.js';

/** Gaps of one look that become findings. */
export const keptMax = 5000;
const atOnce = 50;
const gapsOfOneMax = 20;

interface Words {
  readonly title: string;
  readonly cwe: number;
}
const words: Readonly<Record<string, Words>> = {
  'sensitive-no-auth': { title: 'An operation with sensitive data requires no credentials', cwe: 306 },
  'unprotected-write': { title: 'An operation that changes something requires no credentials', cwe: 306 },
  'bola-risk': { title: 'An object can be asked for by its id without credentials', cwe: 639 },
  'missing-auth': { title: 'An operation requires no credentials', cwe: 306 },
  'bola-review': { title: 'Access to an object rests on its id: review the check of its owner', cwe: 639 },
  'key-in-query': { title: 'Credentials stand in addresses', cwe: 598 },
  'basic-credentials': { title: 'A password is sent with every request', cwe: 522 },
  'weak-oauth-flow': { title: 'An OAuth flow is offered that is advised against', cwe: 1390 },
  'secret-in-answer': { title: 'Answers carry a secret', cwe: 200 },
  'open-members': { title: 'Undeclared members are accepted', cwe: 915 },
  'unbounded-input': { title: 'Input has no bound', cwe: 770 },
  'body-without-schema': { title: 'A body is described by no schema', cwe: 20 },
  'unchecked-body': { title: 'A body is described by no schema', cwe: 20 },
  'no-refusal': { title: 'Refusals are not declared', cwe: 1059 },
  shadow: { title: 'An operation is in use that no specification declares', cwe: 1059 },
  zombie: { title: 'An operation is declared and never used', cwe: 1164 },
  'auth-not-enforced': { title: 'Credentials are declared and not enforced', cwe: 306 },
  'sensitive-data-without-auth': { title: 'Sensitive data is answered without credentials', cwe: 306 },
  'undeclared-personal-data': { title: 'Answers carry undeclared personal data', cwe: 200 },
  'undeclared-member': { title: 'An undeclared member comes in', cwe: 915 },
  'deprecated-in-use': { title: 'A deprecated operation is in use', cwe: 477 },
};
const wordsOf = (rule: string): Words => words[rule] ?? { title: rule.replaceAll('-', ' '), cwe: 1059 };

const severities: Readonly<Record<ApiGap['severity'], Severity>> = { high: 'high', medium: 'medium', low: 'low' };

/** Where the operation is: the name of its site stands for a host. */
const addressOf = (site: string, template: string): string =>
  `https://${encodeURIComponent(site).toLowerCase()}${template.startsWith('/') ? '' : '/'}${template}`;

/** `of`: what was looked at, as a tag. */
export async function recordsOf(
  site: string,
  gaps: readonly ApiGap[],
  of: 'document' | 'traffic',
): Promise<FindingRecord[]> {
  const byPlace = new Map<string, ApiGap[]>();
  for (const gap of gaps) {
    const key = `${gap.rule}\n${gap.method}\n${gap.template}`;
    const known = byPlace.get(key);
    if (known === undefined) byPlace.set(key, [gap]);
    else if (known.length < gapsOfOneMax) known.push(gap);
  }
  const records: FindingRecord[] = [];
  for (const all of byPlace.values()) {
    const [first] = all;
    if (first === undefined) continue;
    if (records.length % atOnce === atOnce - 1) await setImmediate();
    const { rule, method, template, owasp, fix, severity } = first;
    const { title, cwe } = wordsOf(rule);
    const messages = [...new Set(all.map(({ message }) => message))];
    records.push(
      record({
        title,
        description: `${messages.slice(0, 5).join('; ')}.`,
        severity: severities[severity],
        cwes: [cwe],
        source: 'api',
        ruleId: `api-${rule}`,
        location: {
          ...{ kind: 'web', url: addressOf(site, template) },
          ...(method === '' ? {} : { method }),
        },
        fix: { state: 'unknown', text: fix },
        evidence: [
          {
            ...{ site, owasp, looked_at: of },
            places: all.map(({ pointer, line, message }) => ({ pointer, line, message })),
          },
        ],
        tags: [owasp.toLowerCase().replace(':', '-'), `api-${of}`],
        quality: of === 'traffic' ? 0.9 : 0.7,
      }),
    );
  }
  return records;
}
