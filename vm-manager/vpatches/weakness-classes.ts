// What a patch can look for, by weakness: a sign of the attack, the characters that a value may have (strict), an
// attack to try where nobody wrote one down, and harmless values that must go on working. All texts are our own.
const r = String.raw;

export interface WeaknessClass {
  readonly name: string;
  readonly cwes: readonly number[];
  /** Operator and transformations of the signature; the value is matched in lower case where they say so. */
  readonly signature: readonly [operator: string, transformations: string];
  /** The characters of an ordinary value, as a class of a regular expression; null: no strict rule is possible. */
  readonly ordinary: string | null;
  /** A value that the signature has to match. */
  readonly attack: string;
  readonly benign: readonly string[];
  /** Where it can stand when no parameter is named. */
  readonly anywhere: string;
}

const inArguments = 'ARGS|ARGS_NAMES|REQUEST_COOKIES|XML:/*';
const words = r`\w\x80-\xff .,@:+/-`;
const decoded = 'urlDecodeUni,lowercase';

export const weaknessClasses: readonly WeaknessClass[] = [
  {
    name: 'SQL injection',
    cwes: [89, 564],
    signature: ['@detectSQLi', 'urlDecodeUni'],
    ordinary: words,
    attack: "1' OR '1'='1' -- ",
    benign: ['blue shoes 42', '17'],
    anywhere: inArguments,
  },
  {
    name: 'injection into a data query',
    cwes: [943],
    signature: [r`@rx [$](?:n?eq?|[gl]te?|n?in|not|n?or|and|where|regex|exists|expr)\b`, decoded],
    ordinary: words,
    attack: '{"$ne": null}',
    benign: ['blue shoes 42', 'order by 7'],
    anywhere: inArguments,
  },
  {
    name: 'cross-site scripting',
    cwes: [79, 80, 83, 87, 116],
    signature: ['@detectXSS', 'urlDecodeUni,htmlEntityDecode'],
    ordinary: r`\w .,:;@!?+/-`,
    attack: '<script>alert(1)</script>',
    benign: ['blue shoes 42', 'a + b, twice'],
    anywhere: inArguments,
  },
  {
    name: 'path traversal',
    cwes: [22, 23, 24, 35, 36, 73, 98],
    signature: [r`@rx (?:^|[\x5c/;=])[.][.](?:[\x5c/;]|$)|^(?:[a-z]:)?[\x5c/]|^[a-z]{3,8}:(?:/|\x5c)|\x00`, decoded],
    ordinary: r`\w\x80-\xff .-`,
    attack: '../../../../etc/passwd',
    benign: ['report-2026.pdf', 'a..b.txt'],
    anywhere: `REQUEST_URI_RAW|${inArguments}`,
  },
  {
    name: 'command injection',
    cwes: [77, 78, 88],
    signature: [r`@rx [;&|\x60\n\r<>]|[$][({]|^-{1,2}[a-z]`, decoded],
    ordinary: r`\w\x80-\xff .,@:/`,
    attack: 'x; cat /etc/passwd',
    benign: ['www.example.com', 'report 7'],
    anywhere: inArguments,
  },
  {
    name: 'code or template injection',
    cwes: [94, 95, 96, 917, 1336],
    signature: [
      r`@rx [$#%@*~]\s{0,5}\{|\{\{|\{%|<%|\b(?:eval|exec|system|passthru|require|import|constructor|process|runtime` +
        r`|getclass|__class__|globals)\b\s{0,5}[.(\[]`,
      decoded,
    ],
    ordinary: words,
    attack: '${7*7}{{7*7}}',
    benign: ['blue shoes 42', 'import duties'],
    anywhere: inArguments,
  },
  {
    name: 'server-side request forgery',
    cwes: [918],
    signature: [
      r`@rx ^\s*(?:(?:file|gopher|dict|ftps?|tftp|sftp|ldaps?|jar|netdoc|phar|smb|data|php|expect|view-source):` +
        r`|(?:https?:)?[\x5c/]{1,4}(?:[^/@?#]{0,200}@)?` +
        r`(?:localhost|[^/:?#]{0,200}[.](?:internal|local|localhost)\b|0x[0-9a-f]|[0-9]{8,10}(?:[/:?#]|$)|0\d` +
        r`|(?:0|10|127|169[.]254|192[.]168|172[.](?:1[6-9]|2\d|3[01]))(?:[.]|[/:?#]|$)|100[.]100[.]|\[))`,
      decoded,
    ],
    ordinary: null,
    attack: 'http://169.254.169.254/latest/meta-data/',
    benign: ['https://www.example.com/picture.png', 'https://cdn.example.org/a?b=1'],
    anywhere: inArguments,
  },
  {
    name: 'redirect to another site',
    cwes: [601],
    signature: [r`@rx ^\s*(?:[a-z][a-z0-9+.-]{0,30}:|[\x5c/]{2}|[\x5c]|[/][\x5c\t])`, decoded],
    ordinary: r`\w./-`,
    attack: 'https://attacker.example/login',
    benign: ['/account', '/orders/17'],
    anywhere: 'ARGS',
  },
  {
    name: 'external entities of XML',
    cwes: [611, 776, 827],
    signature: [r`@rx <!\s{0,5}(?:doctype|entity)`, 'lowercase'],
    ordinary: null,
    attack: '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>',
    benign: ['<a>17</a>', 'a document type'],
    anywhere: 'REQUEST_BODY|ARGS',
  },
  {
    name: 'restoring untrusted objects',
    cwes: [502, 915],
    signature: [
      r`@rx ^\s{0,5}ro0ab|aced0005|\xac\xed\x00\x05|\b[oc]:\d{1,6}:\x22|@type\b|!!(?:python|javax?|com|org)\b` +
        r`|_\$\$nd_func|\bsystem[.](?:web|data|windows)[.]|objectdataprovider`,
      decoded,
    ],
    ordinary: words,
    attack: 'O:8:"stdClass":1:{s:1:"a";i:1;}',
    benign: ['blue shoes 42', 'type: 7'],
    anywhere: `REQUEST_BODY|${inArguments}`,
  },
  {
    name: 'header injection',
    cwes: [93, 113],
    signature: [r`@rx [\r\n]`, 'urlDecodeUni'],
    ordinary: words,
    attack: 'a\r\nSet-Cookie: b=1',
    benign: ['blue shoes 42', 'a-b'],
    anywhere: inArguments,
  },
  {
    name: 'prototype pollution',
    cwes: [1321],
    signature: [r`@rx __proto__|constructor\s{0,5}(?:[.]|\[[\x22']?)\s{0,5}prototype`, decoded],
    ordinary: null,
    attack: '{"__proto__":{"a":1}}',
    benign: ['{"a":1}', 'prototype 7'],
    anywhere: `REQUEST_BODY|${inArguments}`,
  },
  {
    name: 'LDAP or XPath injection',
    cwes: [90, 91, 643],
    signature: [r`@rx [()*|&=\x5c\x00'\x22\[\]]`, decoded],
    ordinary: words,
    attack: '*)(uid=*))(|(uid=*',
    benign: ['Jane Doe', 'j.doe-7'],
    anywhere: 'ARGS',
  },
];

/** The first class that one of these weaknesses belongs to; null: nothing in a request shows it. */
export function classOf(cwes: readonly number[]): WeaknessClass | null {
  for (const cwe of cwes) {
    const found = weaknessClasses.find((one) => one.cwes.includes(cwe));
    if (found !== undefined) return found;
  }
  return null;
}

/** Types of values for positive rules, the narrowest first. */
export const valueTypes: Readonly<Record<string, string>> = {
  integer: r`-?[0-9]{1,18}`,
  uuid: '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}',
  date: r`[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{5,15}(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?`,
  decimal: r`-?[0-9]{1,15}[.][0-9]{1,15}`,
  boolean: 'true|false',
  email: r`[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:[.][A-Za-z0-9-]{1,63}){1,8}`,
  word: r`[A-Za-z0-9_-]{1,100}`,
};

/** The narrowest type that all of the values have; null: none, or there is no value. */
export function typeOf(values: readonly string[]): string | null {
  if (values.length === 0) return null;
  const found = Object.entries(valueTypes).find(([, form]) =>
    values.every((one) => new RegExp(`^(?:${form})$`).test(one)),
  );
  return found?.[0] ?? null;
}
