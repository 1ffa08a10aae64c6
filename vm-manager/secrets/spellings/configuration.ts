// Passwords in files of settings where the name and the value are no assignment: attributes of XML, pairs on two
// lines, directives with a blank between name and value, lines of password files.
import { hide } from '../values.js';
import {
  isGiven,
  isStrongWord,
  isTyped,
  isUnspeakable,
  open,
  tableOf,
  value,
  type Judge,
  type Spelling,
} from './spelling.js';

const named =
  '(?:passw(?:or)?d|passphrase|passwd|passcode|(?<!com|by|tres|sur|over|under|encom)pass|pwd|' +
  'secret|token|credential|psk|' +
  '(?:api|secret|access|private|account|auth|encryption|signing|master|storage|shared|jwt|hmac|webhook)[-_. ]?key)';
/** Behind the name: `DB_PASSWORD_PROD`, `Password1`; `password_file` names something about it. */
const tail =
  's?(?![-_.]?(?:url|uri|path|file|name|field|type|id|length|len|ttl|expir|header|endpoint|' +
  'policy|hint|label|hash|count|' +
  'manager|provider|service|class|param|ref|version|valid|regex|pattern|format|min|max|required|rotation|reset|' +
  'encoder|strength|timeout|lifetime|duration|cache|store_?type|refresh|bucket|limit))(?:[-_.]\\w{1,20}|\\d{1,3})?';
/** Not within a word: `compass`, `bypass`, `tokenizer` are none. */
const name = `(?:[\\w./:-]{0,60})?${named}${tail}`;

const text = (head: string, judge: Judge, needs: string, flags = 'gi'): Spelling => ({
  pattern: new RegExp(`(${head})${value}`, flags),
  needs,
  judge,
});
const blank = '[ \\t]{1,8}';
const isSetting: Judge = (given) => isTyped(given) && !/^(?:\d{1,3}|string|password|text)$/i.test(given);
const isShadow: Judge = (given) =>
  isGiven(given) && isUnspeakable(given) && /[a-z]/.test(given) && /[A-Z0-9./]/.test(given);

const quotes = '\\\\?["\']?';
const pairs: readonly Spelling[] = [
  // key="DbPassword" value="x", "name": "DB_PASSWORD", "value": "x", name: DB_PASSWORD⏎ value: x
  text(
    '\\b(?:key|name|id|property|parameterkey|variable|envvar|option_name|setting|' +
      `type)${quotes}\\s{0,4}[:=]\\s{0,4}${quotes}` +
      `${name}${quotes}\\s{0,4}(?:\\s{1,8}[\\w:-]{1,30}=["'][^"'\\n]{0,80}["']){0,3}[,;}]?\\s{0,40}` +
      `(?:-\\s{1,3})?${quotes}(?:parameter_?)?(?:value|val|default|content|string_?value|` +
      'option_value)' +
      `${quotes}\\s{0,4}[:=]\\s{0,4}${open}`,
    isSetting,
    'val|default|content',
  ),
  text(
    `\\b(?:value|val)=["'](?=[^"'\\n]{3,200}["']\\s{1,20}(?:key|name|id|property)=["']${name}["'])`,
    isSetting,
    'val',
  ),
  // <property name="x.password">x<, <key>password</key><string>x<, <setting name="Password"><value>x<
  text(
    `<[\\w:.-]{1,40}\\s[^<>]{0,80}?\\b(?:name|key|id)=["']${name}["'][^<>]{0,80}>\\s{0,40}(?:<(?:` +
      'value|string)>)?(?:<!\\[CDATA\\[)?(?=[^\\s<])',
    isSetting,
    '<',
  ),
  text(
    `<(?:key|name)>${name}</(?:key|name)>\\s{0,40}<(?:string|value|data)>(?:<!\\[CDATA\\[)?`,
    isSetting,
    '<key|<name',
  ),
  // <Pass encoding="base64">x<, <wsse:Password Type="…">x<, <dbPassword><![CDATA[x
  text(
    `<(?:\\w{1,20}:)?[\\w.-]{0,40}?${named}s?\\d?(?:\\s[^<>]{0,200})?>\\s{0,20}(?:<!\\[CDATA\\[)?(?=[^\\s<])`,
    isSetting,
    '<',
  ),
  // variable "db_password" { default = "x"
  text(`\\bvariable\\s{1,4}"${name}"\\s{0,4}\\{[^}]{0,300}?\\bdefault\\s{0,8}=\\s{0,4}"`, isSetting, 'variable'),
  // svn: K 8⏎password⏎V 7⏎x
  text('\\npassword\\nV \\d{1,3}\\n', isGiven, '\nv ', 'g'),
];

const directives: readonly Spelling[] = [
  // ENV DB_PASS x, SetEnv DB_PASSWORD x, setenv, fastcgi_param, setx
  text(
    '(?<![\\w-])(?:env|arg|setenv|setenvifempty|fastcgi_param|setx|uwsgi_param|' +
      `passenger_env_var)${blank}\\w{0,40}?(?:${named}|pw)(?:_\\w{1,20}|\\d{1,2})?(?:${blank}|` +
      `=)${open}`,
    isSetting,
    'env|arg|param|setx',
  ),
  // netrc
  text(
    `\\blogin\\s{1,8}\\S{1,100}\\s{1,8}(?:account\\s{1,8}\\S{1,64}\\s{1,8})?passw(?:or)?d\\s{1,8}${open}`,
    isTyped,
    'login',
  ),
  text(`\\b(?:machine|default)\\s[^\\n]{0,160}?\\spassw(?:or)?d\\s{1,8}${open}`, isUnspeakable, 'machine|default'),
  // names that nothing but settings have
  text(
    '(?<![\\w-])(?:requirepass|masterauth|bindpw|rootbindpw|rootpw|auth_pass|' +
      'authldapbindpassword|ldapbindpassword|key-string|' +
      `insecure-password|snmp-server${blank}community|(?:rocommunity6?|rwcommunity6?|trapcommunity)|` +
      `set-?community|pre-?shared-?key|wpa-psk${blank}(?:ascii|hex)|authentication-key|md5${blank}key|` +
      `message-digest-key${blank}\\d{1,3}${blank}md5|(?:tacacs|radius)(?:-server)?${blank}(?:server${blank})?key|` +
      `enable${blank}(?:secret|password)|username${blank}\\S{1,64}${blank}(?:privilege${blank}\\d{1` +
      `,2}${blank})?(?:secret|password)|` +
      `neighbor${blank}\\S{1,64}${blank}password|chap${blank}password|spring\\.\\S{1,60}password|userPassword:|` +
      `user${blank}\\S{1,64}${blank}(?:insecure-)?password|set${blank}(?:plaintext-|` +
      `auth-)?password|priv${blank}(?:aes|des)(?:${blank}\\d{2,3})?|auth${blank}(?:sha|md5))` +
      `${blank}(?:level${blank}\\d{1,2}${blank})?(?:\\d${blank})?${open}`,
    isTyped,
    'pass|auth|bind|rootpw|key|communit|psk|secret|priv',
  ),
  // a blank between the name and a value that is no word: passphrase x, community string x
  text(
    '(?<![A-Za-z])(?:[A-Za-z]\\w{0,30}_)?(?:passw(?:or)?d|passphrase|passwd|passcode|pwd|secret|' +
      'token|psk|pin|credentials?|' +
      `(?:api|secret|access|private|account|auth|shared|pre-?shared)[-_ ]?key|community(?:[ -]?string)?)\\s{1,4}` +
      `(?:(?:is|was|of|value|to|as|equals|string|literal)\\s{1,2}){0,2}\\\\?["'(]?`,
    isStrongWord,
    'pass|pwd|secret|token|psk|pin|credential|key|communit',
  ),
  text('\\bcommunity(?:[ -]?string|[ -]?name)?\\s{0,3}[:=]\\s{0,3}["\']?', isTyped, 'communit'),
  // a whole line of that form may be a word with a number
  text(
    '(?:^|\\n)[ \\t]{0,40}(?:passw(?:or)?d|passphrase|passwd|passcode|secret|auth-pass|' +
      `psk)${blank}${open}(?=\\S{4,200}[ \\t]{0,20}(?:[;\\r\\n]|$))`,
    isUnspeakable,
    'pass|secret|psk',
  ),
  // : PSK "x"
  text('(?:^|\\s):\\s{1,3}(?:PSK|XAUTH|EAP|NTLM)\\s{1,3}["\']?', isTyped, 'psk|xauth|eap|ntlm', 'g'),
  text(
    '(?<![A-Za-z])(?:wpa_?psk|psk|wep_?key\\d?|sae_password|preshared_?key|pre-shared-key|' +
      'passcode)["\']?\\s{0,4}(?:=>|[:=])\\s{0,4}["\']?',
    isTyped,
    'psk|wep|sae_|shared|passcode',
  ),
  // PIN = '936427', otp: 123456, PIN is 9364
  text(
    '(?<![A-Za-z])(?:[A-Za-z]\\w{0,20}_)?(?:pin|otp|totp|pin[-_ ]?code|passcode|pin[-_ ]?number|' +
      'geheimzahl|cvv|cvc|mfa[-_ ]?code|' +
      '(?:one[- ]time|verification|security|sms)[-_ ](?:code|password))["\'\\]]{0,2}\\s{0,4}(?:=>|' +
      ':=|[:=]|\\sis\\s|\\s)\\s{0,4}["\']?(?=\\d{4,12}(?![\\w.:/-]))',
    isGiven,
    'pin|otp|code|geheimzahl|cvv|cvc',
  ),
];

/** Lines of password files and digests of passwords. */
const crypt = new RegExp(
  '(?<![\\w$])((?:\\$(?:1|2[abxy]?|5|6|7|y|gy|sm3|md5|apr1|sha1|argon2(?:id|i|d)|scrypt|pbkdf2(?:-sha\\d+)?|' +
    'bcrypt-sha256|P|H|S)\\$|\\{(?:SSHA|SHA|SMD5|MD5|CRYPT|PBKDF2)\\d{0,3}\\}))([\\w./+=$,-]{13,400})',
  'g',
);
const hashDump = /((?:^|[\s"'])[\w.$\\-]{1,100}:\d{1,10}:)([0-9a-f]{32}:[0-9a-f]{32})(?=:::|\s|$)/gim;
const lines: readonly Spelling[] = [
  // chap-secrets: "me" * "x" *
  text(
    '(?:^|\\n)[ \\t]{0,40}"?[A-Za-z][\\w.@\\\\-]{0,63}"?[ \\t]{1,8}\\*[ ' +
      '\\t]{1,8}"?(?=[^\\s"]{3,100}"?[ \\t]{1,8}(?:\\*|[\\d.]+)[ \\t]{0,8}(?:[\\r\\n]|$))',
    (given) => isGiven(given) && !/^[\d.*]+$/.test(given),
    '*',
  ),
  // .pgpass
  {
    pattern: new RegExp(
      '((?:^|[\\n"\'])[ \\t]{0,40}(?:[\\w.*-]{1,100}|\\[[\\da-f:]{2,40}\\]):(?:\\d{4,5}|\\*):[\\w.*$-]{1,64}:' +
        '(?!\\d{1,6}:)[\\w.*@$-]{1,64}:)(?:[^\\s:"\']|\\\\:){3,200}(?=["\'\\r\\n]|$)',
      'gi',
    ),
    needs: ':',
    judge: isGiven,
  },
  // .htpasswd with a DES digest, also several
  {
    pattern: /((?:^|\n)[ \t]{0,40}[\w.@-]{1,64}:)[\w./]{13}(?=[\r\n]|$)/g,
    needs: ':',
    judge: (given) => isShadow(given) && /[A-Z]/.test(given) && /\d/.test(given) && !/^[A-Z]?[a-z]+\d+$/.test(given),
  },
];

/** scott/x@host, me:x@tcp(host:3306)/db, //me:x@host/share */
const addresses: readonly Spelling[] = [
  { pattern: /(\bjdbc:[\w:]{3,40}:[\w.$#-]{1,64}\/)[^\s"'`@/]{1,100}(?=@)/gi, needs: 'jdbc:', judge: isGiven },
  {
    pattern: /((?<![\w/:.@-])[\w.-]{1,64}:)[^\s"'`/]{1,100}(?=@(?:tcp|udp|unix)\()/g,
    needs: '@tcp|@udp|@unix',
    judge: isGiven,
  },
  {
    pattern: /((?<![\w:/])\/\/[\w.$;\\-]{1,64}:)[^\s"'`@/]{1,100}(?=@[\w.-]{1,100}(?:[/:\s"']|$))/g,
    needs: '@',
    judge: isGiven,
  },
];

export const maskPairs = tableOf([...pairs, ...directives]);
const maskSpelled = tableOf([...lines, ...addresses]);

export function maskLines(given: string): string {
  let masked = maskSpelled(given);
  if (masked.includes('$') || masked.includes('{'))
    masked = masked.replace(
      crypt,
      (_, head: string, value: string) => `${head}${hide(value).replace(/^.*\*{4}/, '****')}`,
    );
  if (masked.includes(':::')) masked = masked.replace(hashDump, (_, head: string) => `${head}****`);
  return masked;
}
