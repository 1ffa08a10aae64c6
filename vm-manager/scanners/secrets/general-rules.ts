// Secrets of no one issuer: private keys, tokens that carry claims, passwords in addresses, values behind telling
// names.
import type { Candidate, Detector } from './detector.js';
import { detector } from './detector.js';
import { entropy, isNoSecretForm, isRandom, isReference, isRepetition, isStandIn, isTemplate } from './values.js';

const inBase64 = (text: string): Buffer => Buffer.from(text, 'base64');

/** Of OpenSSH: magic, then the name of the cipher with its length (PROTOCOL.key of OpenSSH). */
function isOpenSshEncrypted(body: string): boolean {
  const bytes = inBase64(body.replace(/\\n|\s/g, '').slice(0, 200));
  if (bytes.toString('latin1', 0, 14) !== 'openssh-key-v1') return false;
  const length = bytes.length < 19 ? 0 : bytes.readUInt32BE(15);
  return bytes.toString('latin1', 19, 19 + length) !== 'none';
}

function judgeKey({ value, groups }: Candidate): boolean | 'low' {
  const body = (groups['body'] ?? '').replace(/\\[nr]|\s/g, '');
  if (body.length < 64 || isRepetition(body.slice(0, 64)) || entropy(body.slice(0, 400)) < 3.5) return false;
  const isEncrypted = /ENCRYPTED/.test(value.slice(0, 300)) || isOpenSshEncrypted(groups['body'] ?? '');
  return isEncrypted ? 'low' : true;
}

/** Of a JSON Web Token: what the first part says; null: it is none (RFC 7519). */
function partOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof value === 'object' ? (value as Record<string, unknown> | null) : null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

function judgeJwt({ value }: Candidate): boolean | 'low' {
  const [head = '', claims = ''] = value.split('.');
  if (typeof partOf(head)?.['alg'] !== 'string') return false;
  const ends = partOf(claims)?.['exp'];
  return typeof ends === 'number' && ends * 1000 < Date.now() ? 'low' : true;
}

const weakPasswords =
  /^(?:pass(?:w(?:or)?d)?|my_?password|secret|pwd|pw|changeme|1234\d*|test|guest|admin|root|user|x+|abc)\d{0,3}$/i;

function judgeAddress({ groups }: Candidate): boolean | 'medium' {
  const { user = '', value = '', host = '' } = groups;
  const password = decoded(value);
  if (password.length < 6 || isTemplate(password) || isTemplate(user) || isTemplate(host)) return false;
  if (weakPasswords.test(password) || password === user || isStandIn(password) || isReference(password)) return false;
  return /^(?:localhost|127\.|0\.0\.0\.0|\[::1\])/.test(host) ? 'medium' : true;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text;
  }
}

/** A name that means no secret, though it has the word in it. */
const harmlessName = new RegExp(
  '(?:_|-|^)(?:id|name|path|file|url|uri|endpoint|type|header|field|label|length|count|ttl|expir\\' +
    'w*|policy|param|prefix|suffix|algorithm|hash|digest|public|regex|pattern|version|ref|arn|key_?i' +
    'd|store|manager|provider|service|class|method)$|public|csrf|xsrf|tokeni[sz]|next_?token|page_?t' +
    'oken|primary|foreign',
  'i',
);
const lockFile =
  /(?:^|\/)(?:[\w.-]*lock(?:\.json|\.yaml|\.yml)?|go\.sum|[\w.-]+\.(?:min\.js|map|svg|css|snap|ipynb|lock|sum))$/i;

function judgeNamed({ value, groups, path, line }: Candidate): boolean {
  const { name = '' } = groups;
  if (lockFile.test(path) || harmlessName.test(name)) return false;
  // those of AWS have a rule, and one form
  if (/aws/i.test(name) || isTemplate(value) || isReference(value) || isNoSecretForm(value)) return false;
  if (/(?:integrity|checksum|sha\d|digest|commit|revision)/i.test(line.slice(0, 60))) return false;
  if (
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value) &&
    /\.ya?ml$/.test(path) &&
    value.length < 32
  )
    return false;
  return isRandom(value);
}

const addresses =
  'https?|ftps?|sftp|mongodb(?:\\+srv)?|mysql|mariadb|postgres(?:ql)?(?:\\+\\w+)?|rediss?|amqps?|l' +
  'daps?|smtps?|mssql|sqlserver|clickhouse|nats|kafka';

export const generalRules: readonly Detector[] = [
  detector({
    id: 'private-key',
    title: 'Private key',
    severity: 'critical',
    cwes: [321, 798],
    keywords: ['private key-----', 'private key block-----'],
    reach: 9000,
    pattern:
      '-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?<body>[A-Za-z0-9+/=\\s\\\\nr:,.' +
      '()-]{64,8000}?)(?=-----END|["\'`]|$)',
    judge: judgeKey,
  }),
  detector({
    id: 'age-key',
    title: 'Private key of age',
    severity: 'critical',
    cwes: [321, 798],
    keywords: ['AGE-SECRET-KEY-1'],
    isExact: true,
    pattern: 'AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}',
  }),
  detector({
    id: 'onepassword-token',
    title: 'Token of a 1Password service account',
    severity: 'critical',
    keywords: ['ops_eyJ'],
    isExact: true,
    reach: 2000,
    pattern: '(?<![A-Za-z0-9])ops_eyJ[A-Za-z0-9+/=_-]{250,}',
  }),
  detector({
    id: 'gatehouse-token',
    title: 'Token of this vulnerability manager',
    severity: 'critical',
    keywords: ['apt_'],
    isExact: true,
    pattern: '(?<![A-Za-z0-9])apt_[A-Za-z0-9_-]{40,80}(?![A-Za-z0-9_-])',
    judge: ({ value }) => isRandom(value.slice(4)),
  }),
  detector({
    id: 'ethereum-key',
    title: 'Private key of a wallet',
    severity: 'high',
    cwes: [321, 798],
    keywords: ['0x'],
    pattern: '(?<![A-Za-z0-9])(?<value>0x[0-9a-fA-F]{64})(?![A-Za-z0-9])',
    judge: ({ value, line, path }) =>
      !lockFile.test(path) &&
      entropy(value.slice(2)) > 3 &&
      /priv|secret|wallet|mnemonic|signer|forgot|leak|accident/i.test(line) &&
      !/hash|digest|topic|root|public|salt|bytes32|tx|block/i.test(line),
  }),
  detector({
    id: 'json-web-token',
    title: 'JSON Web Token',
    severity: 'medium',
    description: 'A token that an issuer has signed: until its end it is as good as the session that it stands for.',
    keywords: ['eyJ'],
    reach: 2000,
    pattern:
      '(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_-]{10,800}\\.eyJ[A-Za-z0-9_-]{10,1200}\\.[A-Za-z0-9_-]{20,700}' +
      '(?![A-Za-z0-9_-])',
    judge: judgeJwt,
  }),
  detector({
    id: 'password-in-address',
    title: 'Address with a password',
    severity: 'high',
    cwes: [798, 522],
    description: 'The address of a service holds the user and the password: it is written to logs and histories.',
    keywords: ['://'],
    reach: 300,
    flags: 'i',
    pattern:
      `(?<![A-Za-z0-9])(?:${addresses})://(?<user>[^\\s:/@"'\`<>]{1,80}):` +
      `(?<value>[^\\s/"'\`<>:]{1,120})@(?<host>[^\\s/"'\`<>?#)]{1,200})`,
    judge: judgeAddress,
  }),
  detector({
    id: 'named-secret',
    title: 'Secret behind a telling name',
    severity: 'medium',
    description: 'A value that looks random stands behind a name such as secret, token or password.',
    keywords: [
      'secret',
      'token',
      'passw',
      'pwd',
      'api_key',
      'apikey',
      'api-key',
      'access_key',
      'private_key',
      'auth_key',
      'credential',
      'encryption_key',
      'signing_key',
    ],
    flags: 'i',
    reach: 260,
    pattern:
      '(?<![A-Za-z0-9])(?<name>[A-Za-z0-9_.-]{0,40}(?:secret|token|passw(?:or)?d|passwd|pwd|api[_-]?ke' +
      'y|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?|encryption[_-]?key|signing[_-]?key)[' +
      'A-Za-z0-9_-]{0,20})' +
      '["\'`\\]]{0,2}\\s{0,3}(?::=|=>|=|:)\\s{0,3}(?:["\'`](?<quoted>[^"\'`\\r\\n]{16,150})["\'`]|(?<b' +
      'are>[A-Za-z0-9+/_.=~!@#%^&*-]{16,150})(?=[\\s;,]|$))',
    judge: judgeNamed,
  }),
];
