// What rules made of credentials. Masks know a credential by its variable's name and by its shape; a rule that encodes
// it, copies it into TX, or quotes a part of its match leaves neither. The engine says of what a text was made
// (origins); where that is something to be masked, the text made of it is left out of the record as a whole.
import { originTextMax, type MatchedRule, type Origin } from '#engine';
import { isSecretVariable, maskText, secretTextsOf, type MaskLevel } from '../masking/mask.js';

const masked = '(masked)';
/** Shorter ones are in many texts. */
const containedCharsMin = 3;

/** References of XML, as far as they hide what a text says. */
function withoutReferences(text: string): string {
  const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
  return text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(lt|gt|quot|apos|amp));/g, (all, decimal, hex, name) => {
    if (name !== undefined) return named[name as string] ?? all;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16);
    return code > 0x10_ff_ff ? all : Buffer.from(String.fromCodePoint(code), 'utf8').toString('latin1');
  });
}

/**
 * What elements and attributes of secret names hold: rules see texts of a document by one name, `XML:/*`, so that
 * nothing but the document says which of them is a password. Read when a rule matched such a text.
 */
export class DocumentSecrets {
  private texts: readonly string[] | null = null;

  constructor(private readonly body: Buffer | null) {}

  areIn({ name, text }: Origin): boolean {
    if (!name.startsWith('XML') || this.body === null) return false;
    this.texts ??= secretTextsOf(this.body.toString('latin1')).map((found) => withoutReferences(found).trim());
    return this.texts.some((secret) =>
      secret.length < containedCharsMin ? text.trim() === secret : text.includes(secret),
    );
  }
}

const noDocument = new DocumentSecrets(null);

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
export function hideMadeOfSecrets(matched: MatchedRule, document: DocumentSecrets = noDocument): MatchedRule {
  const { rule, valueOrigins, textOrigins } = matched;
  const hidesValue = valueOrigins.some(
    (origin) => (origin.isDerived && isSecret(origin, rule.id)) || document.areIn(origin),
  );
  const hidesText = textOrigins.some((origin) => isSecret(origin, rule.id) || document.areIn(origin));
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
