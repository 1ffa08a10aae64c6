// Tokens that show what they are by their own form, by who issues them. A row is a prefix (or a form) and what follows
// it; all rows become one pattern. Every repetition is bounded or ends at a character that it cannot hold.
import { foreignNames } from './spellings/foreign-names.js';

const rows: Readonly<Record<string, readonly string[]>> = {
  clouds: [
    '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}',
    'AIza[\\w-]{30,}',
    'GOCSPX-[\\w-]{20,}',
    'ya29\\.[\\w-]{20,}',
    '[\\w~.-]{3}[78]Q~[\\w~.-]{30,40}',
    'do[opr]_v1_[0-9a-f]{40,}',
    'dapi[0-9a-f]{32}',
    'hv[sbr]\\.[\\w-]{20,}',
    '\\w{14}\\.atlasv1\\.[\\w-]{40,}',
    'HRKU-[\\w-]{30,}',
    'nfp_\\w{30,}',
    'tskey-[a-z]{2,12}-[\\w-]{10,}',
    'pscale_(?:tkn|pw|oauth)_[\\w.-]{20,}',
    'sbp_[0-9a-f]{32,}',
    'pul-[0-9a-f]{40}',
    'dt0[a-z]\\d\\d\\.\\w{20,}\\.\\w{40,}',
    'LTAI\\w{12,}',
  ],
  forges: [
    'gh[pousr]_\\w{16,}',
    'github_pat_\\w{20,}',
    'gl(?:pat|ptt|dt|rt|oas|cbt|ft|imt|agent|soat|ffct)-[\\w.-]{16,}',
    'GR1348941[\\w-]{16,}',
    'ATBB\\w{20,}',
    'AT[AC]TT3[\\w=-]{20,}',
    'npm_\\w{30,}',
    'pypi-[\\w-]{40,}',
    'rubygems_[0-9a-f]{32,}',
    'oy2[a-z0-9]{43}',
    'dckr_[op]at_[\\w-]{20,}',
    'PMAK-[\\w-]{40,}',
    'lin_api_\\w{30,}',
    'figd_[\\w-]{30,}',
    'ntn_\\w{30,}',
    'glsa_\\w{30,}',
    'NRAK-\\w{20,}',
    'sntr[ys]_[\\w+/=-]{30,}',
    'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{30,}',
    'apt_[\\w-]{16,}',
  ],
  chat: [
    'xox[abeoprs]-[\\w-]{10,}',
    'xapp-\\d-[\\w-]{10,}',
    'hooks\\.slack\\.com/(?:services|workflows)/[\\w/-]{20,}',
    '/api/webhooks/\\d{8,20}/[\\w-]{40,}',
    '[MNO][\\w-]{23,25}\\.[\\w-]{6}\\.[\\w-]{27,}',
    '\\d{8,10}:AA[\\w-]{30,}',
  ],
  payment: [
    '[sr]k_(?:live|test|prod)_\\w{10,}',
    'whsec_[\\w+/=]{16,}',
    'sq0[a-z]{3}-[\\w-]{20,}',
    'EAAA[\\w-]{50,}',
    'access_token\\$(?:production|sandbox)\\$\\w{10,}\\$\\w{10,}',
    'shp(?:at|ca|pa|ss)_\\w{24,}',
  ],
  models: [
    'sk-(?:[a-z]{2,12}\\d{0,2}-)?[\\w-]{16,}',
    'hf_\\w{24,}',
    'gsk_\\w{30,}',
    'r8_\\w{30,}',
    'xai-\\w{30,}',
    'pplx-\\w{30,}',
  ],
  mail: ['SG\\.[\\w-]{16,}\\.[\\w-]{16,}', 'key-[0-9a-f]{32}', '[0-9a-f]{32}-us\\d{1,2}', 'SK[0-9a-f]{32}'],
  keys: ['eyJ[\\w-]{8,}\\.[\\w-]{4,}(?:\\.[\\w-]{0,2000}){0,3}', 'AGE-SECRET-KEY-1\\w{40,}'],
};

/** A token of a known issuer; not within a longer word. */
export const tokenShapes = new RegExp(`(?<![\\w-])(?:${Object.values(rows).flat().join('|')})`, 'g');

/** A private key in PEM, complete or cut off, also with escaped line ends. */
export const privateKey =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g;

/** `scheme://name:password@host`: the password is the second group. A path that was cleaned has one slash left. */
export const urlPassword = /((?::\/\/|(?<=[\w+.-]{2}):\/)[^\s/?#@:"'`<>]{0,256}:)([^\s/?#@"'`<>]{1,256})(?=@)/g;
/** `scheme://token@host`. */
export const urlToken = /(:\/\/|(?<=[\w+.-]{2}):\/)([\w.~+=-]{16,256})(?=@)/g;
/** A credential of an Authorization field. */
export const authorization = /\b((?:bearer|basic|token|apikey|digest|negotiate)\s{1,3})([\w.~+/=-]{8,4000})/gi;
/** `curl -u name:password`. */
export const userOption = /(\s(?:-u|--user)[ =]["']?[^\s:"']{1,100}:)([^\s"']{1,200})/g;

export const keyWords = [
  'passw(?:or)?d',
  'passphrase',
  'passwd',
  'pwd',
  '(?:api|secret|access|private|account|auth|encryption|signing|master|service|storage|shared|ssh|license)[-_ ]?key',
  'secret',
  'token',
  'credential',
  'connection[-_]?string',
  'set-cookie',
  'cookie',
  'authori[sz]ation',
  'jsessionid',
  'session[-_]?id',
].join('|');
/** Endings of a name that make it the name of something about the secret. */
const about =
  'url|uri|path|file|name|field|type|id|length|len|ttl|expir|header|endpoint|policy|hint|label|hash|digest|sha|md5|' +
  'count|manager|provider|service|class|param|ref|arn|version|validator|regex|pattern|format|min|max|required|' +
  'rotation|detect';
export const isKeyWord = new RegExp(keyWords, 'i');
/** Member names whose whole value is the secret, in columns and properties of reports. */
export const secretMember = new RegExp(
  `(?:${keyWords}|${foreignNames}|passcode)s?$|[-_](?:pass|pw|psk)$|^(?:pw|psk)$|` +
    '^raw(?:[-_]?v2)?$|^(?:match|matches|matched(?:[-_](?:text|string))?|finding[-_]value)$',
  'i',
);

/** Names of settings whose value is the secret. */
export const isSecretName = new RegExp(
  `(?:${keyWords}|${foreignNames}|passcode)s?$|(` + '?:^|[-_.])(?:pass|pw|psk)$',
  'i',
);

/** `name = "value"`, `name: value`, `"name": "value"`, `<name>value<`, `--name value`. */
export const assignment = new RegExp(
  `((?:${keyWords})s?(?![_-]?(?:${about})(?![_-](?:content|data|value)s?\\b))` +
    `(?:[_-]\\w{1,20}|\\.(?:value|content|data|text|plain|raw|current|default)|\\d{1,3})?(?:\\\\?["'\`\\]]){0,2}` +
    '(?:\\s{0,5}(?::=|=>|={1,2}|:)\\s{0,5}|>|(?<=--[\\w-]{3,40})\\s{1,2}))' +
    '(?:[bfru]{0,2}(\\\\?["\'`])((?:(?!\\2)[^\\n]){1,2000}?)(?=\\2|…|$|\\n)|' +
    '([^\\s"\'`,;&<>(){}[\\]\\\\]{3,2000})(?![\\w.([]))',
  'gi',
);

/**
 * The same behind short names, which other things have, too: `db_pass = "…"`, `pw='…'`, `auth: …`, `session=…`.
 * The second group is the part of the name that says it.
 */
export const shortAssignment = new RegExp(
  '((?:(?<![A-Za-z])(?:[A-Za-z]\\w{0,30}_)?|(?<=[a-z]))' +
    '(pass|pw|pswd|Pass|Pw|PASS|PW|auth|Auth|AUTH|key|Key|KEY|sig|sid|SID|session|' +
    'Session|SESSION|sess|otp|OTP|pin|PIN|jwt|JWT|hmac|HMAC|nonce|signature|Signature)' +
    '\\d?(?:\\\\?["\'`\\]]){0,2}\\s{0,5}(?::=|=>|={1,2}|:)\\s{0,5})' +
    '(?:[bfru]{0,2}(\\\\?["\'`])((?:(?!\\3)[^\\n]){3,2000}?)(?=\\3|…|$|\\n)|' +
    '([^\\s"\'`,;&<>(){}[\\]\\\\]{3,2000})(?![\\w.([]))',
  'g',
);

/** `hard-coded password "value"`, `Token 'value' is valid`: the quoted text behind the name is the third group. */
export const quotation = new RegExp(
  `((?:${keyWords})s?\\s(?:(?:is|was|of|value|literal|string|found|the|` +
    `a)\\s){0,3})(["'\`])([^"'\`\\n]{6,200})(?=\\2)`,
  'gi',
);
/** What a tool for secrets says behind the name, without quotation marks. */
export const mention = new RegExp(`(?:${keyWords})s?[:=]?\\s{1,3}["'\`]?([^\\s"'\`,;]{6,200})`, 'gi');

/** A run of characters that may be random. */
export const run = /(?<![\w+/=-])[\w+/-]{24,}={0,2}/g;
