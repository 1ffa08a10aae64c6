// Codes of rules: `S2068` of `java:S2068` looks like the value of a pair, and a finding of a credential quotes values.
// What the id of a rule has of that form is a number of its tool, wherever the texts of the finding repeat it.
import { maskSecrets } from './mask.js';

/** Letters and a number: `S2068`, `PWD001`, `K8S01`. */
const code = /(?<![A-Za-z0-9])(?:[A-Z]{1,6}\d{1,7}|[A-Z](?:\d[A-Z]){1,2}\d{1,4})(?![A-Za-z0-9])/g;
const isIdentifier = /^[\w@./:+-]{1,200}$/;
/** Stand for the id and its codes while a text is masked; characters of nobody (Unicode, private use). */
const firstStand = 0xe000;
const stand = /[\ue000-\ue01f]/g;
const standsMax = 8;

type Mask = (text: string) => string;

/** Of one rule: masks texts around its id and codes. */
export class RuleCode {
  private readonly words: readonly string[];

  constructor(ruleId: string) {
    const codes = isIdentifier.test(ruleId) ? [...new Set(ruleId.match(code))] : [];
    const rest = codes.reduce((text, one) => text.replaceAll(one, ''), ruleId);
    // a token in the id is masked there, too
    const isPlain = codes.length > 0 && maskSecrets(rest) === rest;
    this.words = (isPlain && !codes.includes(ruleId) ? [ruleId, ...codes] : codes).slice(0, standsMax);
  }

  around(text: string, mask: Mask): string {
    const { words } = this;
    if (!words.some((word) => text.includes(word)) || text.search(stand) >= 0) return mask(text);
    let standing = text;
    for (const [index, word] of words.entries())
      standing = standing.replaceAll(word, (all, at: number) => {
        const beside = (standing[at - 1] ?? '') + (standing[at + word.length] ?? '');
        return /[A-Za-z0-9]/.test(beside) ? all : String.fromCharCode(firstStand + index);
      });
    return mask(standing).replace(stand, (one) => words[one.charCodeAt(0) - firstStand] ?? one);
  }
}
