// What rules made of credentials. Masks know a credential by its variable's name and by its shape; a rule that encodes
// it, copies it into TX, or quotes a part of its match leaves neither. The engine says of what a text was made
// (origins); where that is something to be masked, the text made of it is left out of the record as a whole.
import { originTextMax, type MatchedRule, type Origin } from '#engine';
import { isSecretVariable, maskText, type MaskLevel } from '../masking/mask.js';

const masked = '(masked)';

/** Rules of the core rule set are known text: they quote what matched, and the masks know how they do it. */
function isKnownRule(id: number): boolean {
  return id >= 900_000 && id <= 999_999;
}

function isSecret({ name, text, isDerived }: Origin, ruleId: number): boolean {
  const colon = name.indexOf(':');
  const isKnown = isKnownRule(ruleId);
  // With own rules personal data counts whether or not `privacy_mode` is on: once derived it cannot be found later.
  const level: MaskLevel = isKnown ? 'secrets' : 'personal';
  if (colon > 0 && isSecretVariable(name.slice(0, colon), name.slice(colon + 1), level)) return true;
  if (isKnown || !isDerived) return false;
  return text.length >= originTextMax || maskText(text, level) !== text;
}

const hasMacro = (tag: string): boolean => tag.includes('%{');

/**
 * The match without what was made of secrets. Left as it is: a value that stands there as it came, which the masks
 * know by its name (maskMatch).
 */
export function hideMadeOfSecrets(matched: MatchedRule): MatchedRule {
  const { rule, valueOrigins, textOrigins } = matched;
  const hidesValue = valueOrigins.some((origin) => origin.isDerived && isSecret(origin, rule.id));
  const hidesText = textOrigins.some((origin) => isSecret(origin, rule.id));
  if (!hidesValue && !hidesText) return matched;
  const quotesInMsg =
    rule.links.find(({ msg }) => msg !== null)?.msg?.some((part) => typeof part !== 'string') ?? false;
  return {
    ...matched,
    // A member of TX may be named after what was made of a secret.
    ...(hidesValue ? { value: masked, variable: matched.variable.replace(/^TX:[^]*$/, 'TX') } : {}),
    ...(hidesText && quotesInMsg ? { msg: masked } : {}),
    ...(matched.logdata === '' || !hidesText ? {} : { logdata: masked }),
    ...(hidesText ? { tags: rule.tags.filter((tag) => !hasMacro(tag)) } : {}),
  };
}
