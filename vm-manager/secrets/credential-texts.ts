// The texts of one finding that says that a credential is in the code: what one of them calls the secret is masked in
// all of them.
import { maskCredentials, secretsOfProse } from './credentials.js';
import { maskSecrets, namedSecrets } from './mask.js';
import { RuleCode } from './rule-code.js';
import { isMadeUp, isMixed } from './values.js';
import { isOrdinary } from './words.js';

interface Told {
  readonly title: string;
  readonly description: string;
  readonly evidence: readonly unknown[];
  readonly extra: Readonly<Record<string, unknown>>;
  readonly fix: Readonly<Record<string, unknown>> | { readonly text?: string };
  readonly location: { readonly kind?: string; readonly snippet?: string };
}

const depthMax = 16;
const textMax = 20_000;
/** Members whose texts are sentences about the code, and members that name a place. */
const prose = /^(?:message|title|description|note|label|reason|info|detail|summary|finding|output|notes?)$/i;
const places = new RegExp(
  '^(?:path|file|filename|url|uri|href|kind|type|method|' +
    'rule|rule_?id|id|commit|date|email|author|state|role|version)$',
  'i',
);

type Mask = (text: string) => string;

export class TextsOfCredential {
  /** Are no words of the language: masked in every member of the record. */
  readonly sure: readonly string[];
  private readonly words: readonly string[];
  private readonly masked = new Map<string, string>();
  private readonly plain: Mask;
  private readonly code: RuleCode;

  constructor(told: Told, plain: Mask, code = new RuleCode('')) {
    this.plain = plain;
    this.code = code;
    const noted = new Set<string>();
    code.around(`${told.title}\n${told.description}`, (text) => {
      for (const secret of secretsOfProse(text)) noted.add(secret);
      return text;
    });
    const note = (secret: string): void => void noted.add(secret);
    this.take(told.title, false, note);
    this.take(told.description, false, note);
    this.takeAll(
      { snippet: told.location.snippet, fix: told.fix, evidence: told.evidence, extra: told.extra },
      '',
      note,
    );
    const named = [...noted].filter(
      (secret) => !isOrdinary(secret) && !/^(?:[A-Za-z]{1,5}|[\d.]{1,5}|.{1,3})$/.test(secret),
    );
    this.sure = named.filter((secret) => isMixed(secret) || isMadeUp(secret));
    this.words = named.filter((secret) => !isMixed(secret) && !isMadeUp(secret));
  }

  /** For the texts that people read. */
  maskAfter(mask: Mask): Mask {
    const words = namedSecrets(this.words);
    return (text) => {
      const once = this.masked.get(text);
      if (once === undefined && words.length === 0) return mask(text);
      if (words.length === 0) return mask(once ?? text);
      return mask(this.code.around(once ?? text, (one) => maskSecrets(one, words)));
    };
  }

  private take(text: string, isSnippet: boolean, note: (secret: string) => void): void {
    if (text.length < 4 || text.length > textMax || this.masked.has(text)) return;
    // first what every text is masked by: a token is then no literal with a name
    const masked = this.code.around(text, (one) => maskCredentials(this.plain(one), isSnippet, note));
    if (masked !== text) this.masked.set(text, masked);
  }

  private takeAll(value: unknown, name: string, note: (secret: string) => void, depth = 0): void {
    if (typeof value === 'string') {
      if (!places.test(name)) this.take(value, !prose.test(name), note);
    } else if (typeof value === 'object' && value !== null && depth < depthMax)
      for (const [key, member] of Object.entries(value))
        this.takeAll(member, Array.isArray(value) ? name : key, note, depth + 1);
  }
}
