// Findings that say that a credential is in the code, or was guessed: their texts quote it. Literals and values that
// are assigned are masked whatever they are called; in texts of other findings the words beside a value have to say so.
import { isKeyWord, keyWords, mention } from './shapes.js';
import { hide, isCredentialWord, isMadeUp, isMixed, isNameOfCode, isPlaceholder, isSecretLiteral } from './values.js';
import { isOrdinary, isPhrase } from './words.js';

/** CWE of passwords, keys and tokens that are written down, weak or shown. */
const cwesOfCredentials: ReadonlySet<number> = new Set([
  256, 257, 258, 259, 260, 261, 312, 313, 315, 321, 522, 523, 547, 549, 555, 798, 1392,
]);
/** Rules of tools that name no CWE: Bandit, gosec, Sonar, Checkov, default logins of Nuclei, brute forcing of Nmap. */
const ruleOfCredentials = new RegExp(
  [
    'hard-?_?coded?[-_ ./]*(?:passw|secret|cred|token|key|auth)',
    '(?:default|weak|empty|leaked|exposed|guessed|plain-?text|clear-?text)[-_ ]?' +
      '(?:login|passw|cred|secret|token|api-?key)',
    '(?:passw\\w*|secrets?|credentials?|token|api-?key)[-_ ](?:in|leak|expos|hard|found|detect|disclos)',
    '^(?:B10[567]|G101|secrets?[:/.]\\S*|CKV_SECRET_\\d+|(?:\\w+:)?S(?:2068|6418|6437|6702|6703|7203))$',
    '-brute$|brute[-_]?force|no-hardcoded-|no-secrets|high entropy|generic-api-key|detect-secrets',
  ].join('|'),
  'i',
);

interface Told {
  readonly source: string;
  readonly cwes: readonly number[];
  readonly ruleId: string;
}

const rulesMax = 2000;
const rules = new Map<string, boolean>();

function isRuleOfCredentials(ruleId: string): boolean {
  const known = rules.get(ruleId);
  if (known !== undefined) return known;
  const is = ruleOfCredentials.test(ruleId);
  if (rules.size >= rulesMax) rules.clear();
  rules.set(ruleId, is);
  return is;
}

/** Whether the finding is that a credential is in the code, or known: by its kind, its CWE or its rule. */
export const isOfCredential = ({ source, cwes, ruleId }: Told): boolean =>
  source === 'secret' || cwes.some((cwe) => cwesOfCredentials.has(cwe)) || isRuleOfCredentials(ruleId);

const names = `(?:${keyWords}|(?<![A-Za-z])(?:db|user|my|admin|root)?_?(?:pass|pw|pswd))`;

/** `strcpy(password, "value")`, `{"password", "value"}`, `setPassword("value")`. */
const argument = new RegExp(
  `(${names}\\w{0,20}["'\`]?\\s{0,3}(?:,|\\()\\s{0,3})(\\\\?["'\`])((?:(?!\\2)[^\\n]){3,200}?)(?=\\2\\s{0,3}[,)}\\]])`,
  'gi',
);
/** `hard-coded value "…"`, `hard-coded password '…'`, `… "value" is hard-coded`. */
const hardCoded = /(hard-?\s?coded\b[^"'`\n]{0,80})(["'`])([^"'`\n]{3,200})(?=\2)/gi;
const isHardCoded = /(?<=(["'`]))([^"'`\n]{3,200})(?=\1[^"'`\n]{0,40}hard-?\s?coded)/gi;
/** `Password qzkvplmr is hard-coded`. */
const spoken = new RegExp(`(${names}s?\\s{1,3})([^\\s"'\`,;:=()<>]{4,200})(?=[\\s.,;]|$)`, 'gi');
/** What tools that guess write behind an account: `admin:value - Valid credentials`, `root:value => Login`. */
const guessed =
  /([\w.@$-]{1,64}:)([^\s:/"'`][^\s"'`]{2,200})(?=\s{1,3}(?:-|=>|→)\s{0,3}(?:valid|login|account|success))/gi;
/** `Credentials found for http://h/login : admin / value`, `login: root password: value`. */
const found = new RegExp(
  [
    /(\b(?:credentials?|logins?|accounts?)\b[^\n]{0,300}?\s?:\s{1,3}[^\s/:]{1,100}\s{0,3}(?:\s\/\s|:(?!\/))\s{0,3})/,
    /([^\s"'`/][^\s"'`]{2,200})/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gi',
);

const tail = (all: string, value: string): string => all.slice(0, all.length - value.length) + hide(value);

/** For texts of every finding: values beside which a word says that they are secrets. */
export function maskSpoken(given: string): string {
  let text = given;
  if (isKeyWord.test(text) || /pass|pw/i.test(text)) {
    text = text.replace(argument, (all, _head: string, _quote: string, value: string) =>
      isSecretLiteral(value) && isCredentialWord(value) && value.length >= 6 ? tail(all, value) : all,
    );
    text = text.replace(spoken, (all, _head: string, value: string) => (isMadeUp(value) ? tail(all, value) : all));
    if (/hard-?\s?coded/i.test(text))
      text = text
        .replace(hardCoded, (all, _head: string, _quote: string, value: string) =>
          isCredentialWord(value) ? tail(all, value) : all,
        )
        .replace(isHardCoded, (all) => (isCredentialWord(all) ? hide(all) : all));
  }
  if (/valid|login|credential|account/i.test(text))
    text = text
      .replace(guessed, (all, head: string, value: string) => (isPlaceholder(value) ? all : `${head}${hide(value)}`))
      .replace(found, (all, _head: string, value: string) =>
        isPlaceholder(value) || isOrdinary(value) ? all : tail(all, value),
      );
  return text;
}

const literal = /(\\?["'`])((?:(?!\1)[^\n\\]|\\(?!["'`]).){3,2000}?)(?=\1)(\1)/g;
/** `x = value` and `x: value` of one word. */
const assigned = new RegExp(
  [
    /((?:^|[\s,;({[])["']?[\w.$[\]'"-]{1,100}["']?\s{0,5}(?::=|=>|={1,3}|:)\s{0,5})/,
    /([^\s"'`,;&<>(){}[\]\\]{3,2000})(?![\w([])/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gm',
);
const saidOf = new RegExp(
  `(${names}s?\\s{1,3})([^\\s"'\`,;:=()<>]{3,200})` +
    `(?=\\s{1,3}(?:is|was|are|has|found|detected|hard|embedded|leaked|exposed|in)\\b|\\s{0,3}$)`,
  'gi',
);
/** Hexadecimal and mixed runs; not of a commit or a digest. */
const bare = /(?<![\w+/=.-])[A-Za-z0-9+/_-]{16,}={0,2}(?![\w.])/g;
const digestBefore =
  /(?:commit|revision|rev|sha-?\d{0,3}|md5|digest|hash|checksum|fingerprint|uuid|guid)\b\W{0,6}(?:\w{1,8}\s)?$/i;

const isAssigned = (value: string, isSnippet: boolean): boolean => {
  if (isPlaceholder(value) || isOrdinary(value) || /^[\d.]{1,5}$/.test(value)) return false;
  if (/^[$@%&]|^\.{0,2}\/|:\/\/|^(?:new|await|return|function|null|None|nil)$/i.test(value)) return false;
  if (isKeyWord.test(value) && /^[A-Za-z_.-]+$/.test(value)) return false;
  if (isNameOfCode(value) && /[.:>]/.test(value)) return false;
  return isSnippet || isMixed(value) || isMadeUp(value);
};

/**
 * For texts of findings of credentials: every literal and assigned value in them. `isSnippet`: the text is code, and a
 * literal in it is no quotation of a name.
 */
export function maskCredentials(text: string, isSnippet: boolean, note: (secret: string) => void): string {
  const taken = (all: string, value: string): string => {
    note(value);
    return tail(all, value);
  };
  return text
    .replace(literal, (all, quote: string, value: string) =>
      isPlaceholder(value) || !(isSnippet ? isSecretLiteral(value) && isOfCode(value) : isCredentialWord(value))
        ? all
        : `${quote}${taken(value, value)}${quote}`,
    )
    .replace(assigned, (all, _head: string, value: string) => (isAssigned(value, isSnippet) ? taken(all, value) : all))
    .replace(saidOf, (all, _head: string, value: string) =>
      isCredentialWord(value) && !isKeyWord.test(value) ? taken(all, value) : all,
    )
    .replace(bare, (all, at: number) =>
      isMixed(all) && isRun(all) && !digestBefore.test(text.slice(Math.max(0, at - 40), at)) ? taken(all, all) : all,
    );
}

/** A sentence in code is a text for people, unless it may be a phrase. */
const isOfCode = (value: string): boolean => !/\s/.test(value) || isPhrase(value) || isMixed(value);

/** More than a word with a number behind it, a path, or a name of parts: `my-service-2`. */
const isRun = (value: string): boolean =>
  /^[0-9a-f]+$/i.test(value) || ((value.match(/\d/g)?.length ?? 0) >= 3 && !/[/_-].*[/_-].*[/_-]/.test(value));

/** What the text of a tool for secrets itself calls one. */
export const secretsOfProse = (text: string): string[] =>
  [...text.slice(0, 4000).matchAll(mention)]
    .map((match) => match[1] ?? '')
    .filter((word) => isMixed(word) || isMadeUp(word));
