// Passwords and keys as arguments of calls, by what is called: the second argument of `login`, the first of `Fernet`.
// Only literals are values; a variable, a call or a name of an entry is none.
import { hide, isCredentialWord, isMadeUp, isMixed } from '../values.js';
import { isGiven, isTyped, tableOf, type Judge, type Spelling } from './spelling.js';

/** Position of the argument from 0; `user` functions are those of other things, too: the value must be no word. */
const rows: readonly (readonly [position: number, isSure: boolean, names: string])[] = [
  [
    0,
    true,
    'Fernet MultiFernet SecretKeySpec PBEKeySpec DESKeySpec DESedeKeySpec hmacShaKeyFor HMAC256 HMAC384 HMAC512 ' +
      'setSigningKey verifyWith PasswordDeriveBytes Rfc2898DeriveBytes SymmetricSecurityKey HMACSHA1 HMACSHA256 ' +
      'HMACSHA512 HMACMD5 set_password setPassword setUserPassword SetPassword check_password ' +
      'pbkdf2Sync scryptSync ' +
      'cookieParser URLSafeTimedSerializer TimedJSONWebSignatureSerializer password_hash password_verify hashpw ' +
      'createSecretKey setKeyStorePassword setTrustStorePassword setKeyPassword NewHmacKey SecretBox bearerAuth ' +
      'setBearerAuth BearerTokenAuth setProxyPassword setDbPassword setAuthToken setApiKey setSecret ' +
      'PasswordCredential SecureString make_password generate_password_hash unlockAccount encryptPassword',
  ],
  [0, false, 'toCharArray compare hash hashSync compareSync hmac scrypt pbkdf2 crypt derive_key importKey'],
  [
    1,
    true,
    'HTTPBasicAuth HTTPDigestAuth HTTPProxyAuth HttpNtlmAuth NTLMAuth BasicAuth BasicAuthentication basicAuth ' +
      'basic_auth BasicAuthProvider setBasicAuth SetBasicAuth NetworkCredential PasswordAuthentication ' +
      'UsernamePasswordCredentials UsernamePasswordToken UsernamePasswordAuthenticationToken PlainTextAuthProvider ' +
      'PlainAuthenticator DefaultCredentials ICredential PSCredential AzureNamedKeyCredential AWSCredentials ' +
      'BasicAWSCredentials BasicSessionCredentials AwsBasicCredentials.create StorageSharedKeyCredential ' +
      'login logIn log_in signIn sign_in signin do_login authenticate auth authenticate_user httpAuth credentials ' +
      'Credentials Credentials.basic ftp_login createConnection createUser create_user addUser add_user ' +
      'simple_bind_s simple_bind bind_s ldap_bind oci_connect oci_pconnect PlainCredentials inMemoryUser ' +
      'check_password_hash ' +
      'createCipheriv createDecipheriv createCipher createDecipher createHmac jwt.sign jwt.verify ' +
      'jwt.encode jwt.decode ' +
      'JWT.encode JWT.decode JWT.sign jsonwebtoken.sign JWT::encode JWT::decode jws.sign sign_jwt ' +
      'AES.encrypt AES.decrypt ' +
      'DES.encrypt TripleDES.encrypt DES.decrypt HmacSHA256 HmacSHA1 HmacMD5 HmacSHA512 ' +
      'pgp_sym_encrypt pgp_sym_decrypt ' +
      'AES_ENCRYPT AES_DECRYPT signWith sp_addlogin sp_password encryptUsing',
  ],
  [0, true, 'AES.new DES.new DES3.new ARC4.new Blowfish.new hmac.new HMAC.new ChaCha20.new ENCRYPTBYPASSPHRASE'],
  [
    2,
    true,
    'getConnection mysqli_connect mysqli mysql_connect mysqli_real_connect real_connect PDO odbc_connect imap_open ' +
      'ssh2_auth_password openssl_encrypt openssl_decrypt hash_hmac DriverManager.getConnection ' +
      'keyring.set_password ' +
      'db2_connect sqlsrv_login mssql_connect pymssql.connect MySQLdb.connect pymysql.connect cx_Oracle.connect ' +
      'oracledb.connect FTP FTP_TLS poplib ftplib.FTP DBI.connect Sequel.connect sybase_connect maxdb_connect',
  ],
  [1, false, 'load getKey getEntry store setEntry unlock decrypt encrypt verify sign'],
  [2, false, 'connect dial Dial bind open'],
  [3, false, 'connect ssh_connect'],
  [2, true, 'DBI->connect'],
];

interface Argument {
  readonly position: number;
  readonly isSure: boolean;
}
const known = new Map<string, Argument[]>();
for (const [position, isSure, names] of rows)
  for (const name of names.split(' ')) known.set(name, [...(known.get(name) ?? []), { position, isSure }]);

const escaped = (text: string): string => text.replace(/[.>]/g, '\\$&');
export const callNames = [...known.keys()];
const byLength = [...known.keys()].sort((left, right) => right.length - left.length);
/** `Auth.login(`, `new PDO(`, `smtp->login(`. */
const call = new RegExp(
  `(?<![A-Za-z0-9_$])(${byLength.map(escaped).join('|')}` + ')(?:<[\\w,.? ]{0,60}>)?\\s{0,3}\\(',
  'g',
);

const callMax = 400;
const wrapper = new RegExp(
  '^\\s{0,40}(?:\\w{1,30}\\s?[=:]\\s?)?' +
    '(?:(?:Buffer\\.from|bytes(?:\\.fromhex)?|bytearray|\\[\\]byte|new String|String|str|' +
    'b64decode|base64\\.\\w{1,20}|to_bytes|' +
    '[\\w.]{0,40}(?:GetBytes|parse|decode|DecodeString|FromBase64String|FromHexString|unhexlify|' +
    'fromHex|TextEncoder\\(\\)\\.encode)|' +
    'new \\w{1,30}|\\w{0,10}mkSecret)\\(\\s?){0,3}' +
    '(?:[bfrunNL@]{0,2})(\\\\?["\'`])',
);

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Arguments of a call as positions in the text; the list ends where it closes, or is cut off. */
function argumentsOf(text: string, from: number, wanted: number): Span[] {
  const spans: Span[] = [];
  let depth = 0;
  let start = from;
  let quote = '';
  const end = Math.min(text.length, from + callMax);
  for (let at = from; at < end; at++) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === quote) quote = '';
      else if (char === '\\' && text[at + 1] !== quote) at++;
    } else if (char === '"' || char === "'" || char === '`') quote = char;
    else if (char === '(' || char === '[' || char === '{') depth++;
    else if (depth > 0 && (char === ')' || char === ']' || char === '}')) depth--;
    else if (char === ')' || char === ']' || (char === ',' && depth === 0)) {
      spans.push({ from: start, to: at });
      if (char !== ',' || spans.length > wanted) return spans;
      start = at + 1;
    }
  }
  spans.push({ from: start, to: end });
  return spans;
}

/** The literal of an argument, without its quotation marks. */
function literalOf(text: string, { from, to }: Span): Span | undefined {
  const argument = text.slice(from, to);
  const match = wrapper.exec(argument);
  if (match === null) return undefined;
  const quote = match[1] ?? '';
  const start = match[0].length;
  const end = argument.indexOf(quote, start);
  const value = end === -1 ? argument.slice(start) : argument.slice(start, end);
  // a literal that goes on is a part of a text
  if (end !== -1 && /^\s{0,3}(?:\+|%|\.\s?\$|\.(?:format|replace|join)\b)/.test(argument.slice(end + quote.length)))
    return undefined;
  return { from: from + start, to: from + start + value.length };
}

const alphabet = /0123456|abcdef|ABCDEF|qwertyuiop/;
const isArgument = (value: string, isSure: boolean): boolean =>
  isGiven(value) &&
  !/[\s{}<>]|^[./#]|^(?:utf-?8|hex|base64|ascii|sha-?\d+|md5|aes[-\w]*|hs\d+|rs\d+|des\w*)$/i.test(value) &&
  isCredentialWord(value) &&
  (isSure
    ? !isDictionary.test(value)
    : value.length >= 6 && (isMixed(value) || isMadeUp(value)) && !alphabet.test(value) && /\d/.test(value));
/** Other arguments of these functions, in other libraries. */
const isDictionary = new RegExp(
  '^(?:form|button|submit|page|route|user|users|admin|guest|index|home|email|username|success|failure|' +
    'error|callback|local|jwt|basic|google|github|facebook|twitter|ldap|saml|header|public|private|' +
    'click|change|input|focus|connection|disconnect|message|open|close|data|profile|scope|session|' +
    'Login|Sign|Signin|Log)$',
  'i',
);

/** The text without literals that functions take as passwords and keys. */
export function maskArguments(text: string): string {
  if (!text.includes('(')) return text;
  let masked = '';
  let done = 0;
  for (const match of text.matchAll(call)) {
    const from = match.index + match[0].length;
    if (from < done) continue;
    const wanted = known.get(match[1] ?? '') ?? [];
    const spans = argumentsOf(text, from, Math.max(...wanted.map(({ position }) => position)));
    for (const { position, isSure } of wanted) {
      const span = spans[position];
      const literal = span === undefined ? undefined : literalOf(text, span);
      if (literal === undefined || literal.from < done) continue;
      const value = text.slice(literal.from, literal.to);
      if (!isArgument(value, isSure)) continue;
      masked += text.slice(done, literal.from) + hide(value);
      done = literal.to;
    }
  }
  return masked + text.slice(done);
}

const isWord: Judge = (value) => isArgument(value, true);
const isLiteral: Judge = (value) => isGiven(value) && isCredentialWord(value) && !/[{}<>]/.test(value);
const isAnyLiteral: Judge = (value) => isGiven(value) && (isCredentialWord(value) || /\d/.test(value));

const secretName =
  '(?:passw(?:or)?d|passphrase|passwd|passcode|pwd|pass|pw|secret|token|credentials?|(?:api|' +
  'secret|access|private|auth|encryption|signing|master|shared)[-_]?key)';
/** A quotation mark in HTML and XML. */
const entity = '&(?:quot|apos|#0{0,4}3[49]|#x0{0,4}2[27]);';
const quotedValue = (judge: Judge, needs: string, head: string, flags = 'gi'): Spelling => ({
  needs,
  judge,
  pattern: new RegExp(
    `(${head}[bfrunl@]{0,2}(?:\\\\?"(?=[^"\\n]{1,200}")|\\\\?'(?=[^'\\n]{1,200}')|` +
      `\`(?=[^\`\\n]{1,200}\`)))(?:(?<=")[^"\\\\\\n]{1,200}|(?<=')[^'\\\\\\n]{1,200}|` +
      `(?<=\`)[^\`\\n]{1,200})`,
    flags,
  ),
});

const spellings: readonly Spelling[] = [
  // auth=('me', 'x'), credentials: ["me", "x"]
  quotedValue(
    isWord,
    'auth|cred|login|userpwd|account',
    '\\b\\w{0,30}(?:auth|credentials?|creds?|login|userpwd|account|' +
      `user_?pass)["'\\]]{0,2}\\s{0,4}(?:=>|:=|[:=])\\s{0,4}(?:new\\s)?(?:tuple|list|array|` +
      `Array)?[([{]{1,2}\\s{0,20}[bfru]{0,2}["'][^"'\\n]{0,64}["']\\s{0,4}(?:,|=>)\\s{0,4}`,
  ),
  // SQL
  quotedValue(
    isAnyLiteral,
    'identified',
    '\\bidentified\\s{1,4}(?:with\\s{1,4}\\S{1,60}\\s{1,4})?(?:by|as|' +
      'using)\\s{1,4}(?:password\\s{1,4}|values\\s{1,4})?',
  ),
  {
    needs: 'identified',
    pattern: /(\b(?:create|alter|grant|user|role)\b[^\n;]{0,200}?\sidentified\s{1,4}by\s{1,4})[^\s"'`;,()]{3,100}/gi,
    judge: isGiven,
  },
  quotedValue(
    isAnyLiteral,
    'password',
    '\\b(?:with|encrypted|unencrypted|by|user\\s{1,4}\\S{1,64}|role\\s{1,4}\\S{1,64}|' +
      'login\\s{1,4}\\S{1,64})\\s{1,4}password\\s{0,4}=?\\s{0,4}',
  ),
  quotedValue(isAnyLiteral, 'password', '\\bset\\s{1,4}password\\b[^\\n;=]{0,100}=\\s{0,4}(?:password\\()?'),
  quotedValue(isAnyLiteral, 'sp_', "\\bsp_(?:addlogin|password)\\s{1,4}N?(?:'[^'\\n]{0,64}'|null)\\s{0,4},\\s{0,4}"),
  quotedValue(isAnyLiteral, 'password|old_pass', '\\b(?:old_)?password\\s{0,2}\\(\\s{0,2}'),
  // PowerShell
  {
    needs: 'securestring',
    pattern: new RegExp(
      '(ConvertTo-SecureString\\s{1,4}(?:-(?:String|AsPlainText|Force|Key\\s{1,3}\\S{1,40})\\s{1,4}){0,3}["\']?)' +
        '(?:(?<=")[^"\\n]{1,200}|(?<=\')[^\'\\n]{1,200}|[^\\s"\'-][^\\s"\')]{1,200})',
      'gi',
    ),
    judge: isGiven,
  },
  // password: String = "x", password []byte = "x", char password[] = "x", password === "x", password || "x"
  quotedValue(
    isLiteral,
    'pass|pwd|pw|secret|token|key|cred',
    `${secretName}\\w{0,20}["'\\])}]{0,3}(?:\\[\\w{0,5}\\]|` +
      `\\(\\))?(?:\\s{0,3}:\\s{0,3}[&\\w<>?.[\\]| ']{1,40}?\\s{0,3}=|` +
      '\\s{1,3}[\\w\\[\\]*.]{1,20}\\s{1,3}:?=|' +
      '\\s{0,4}(?:={1,3}|!={1,2}|<>|\\+=|\\|\\|=?|\\?\\?=?|\\?:|<-|~=|:=|=>|\\/\\/=?|\\beq\\b|' +
      '\\bne\\b|\\bor\\b|\\.equals\\w{0,20}\\(|\\.(?:compareTo\\w{0,12}|contentEquals|Equals|' +
      'send_?keys|sendKeys|fill|type|set|setValue|assign|append)\\())\\s{0,4}(?:Some\\(|' +
      'String::from\\(|new String\\(|strdup\\(|_T\\(|TEXT\\(|std::string\\(|String\\(|SecretStr\\(|' +
      'Buffer\\.from\\(|base64\\.b64decode\\()?',
  ),
  // "x".equals(password), "x" == password
  {
    needs: 'pass|pwd|secret|token',
    pattern: new RegExp(
      `(["'])(?:(?<=")[^"\\s]{3,100}|(?<=')[^'\\s]{3,100})(?=["']\\s{0,3}(?:\\.equals\\w{0,12}\\(|` +
        `[=!]={1,2})\\s{0,3}[\\w$.>-]{0,40}${secretName}\\b)`,
      'gi',
    ),
    judge: isLiteral,
  },
  // ${DB_PASSWORD:-x}
  {
    needs: '${',
    pattern: new RegExp(`(\\$\\{[\\w.]{0,40}${secretName}\\w{0,20}:[-=]?)[^\\s{}]{3,200}(?=\\})`, 'gi'),
    judge: (value) => isGiven(value) && !/^[?+]/.test(value),
  },
  // """x""", '''x''', R"(x)", q{x}, %q(x)
  {
    needs: '"""|\'\'\'|r"|q{|q(|q[|q<|q!|q~|qq|qw',
    pattern: new RegExp(
      `(${secretName}\\w{0,20}["'\\])}]{0,3}\\s{0,4}(?::=|=>|={1,3}|:|\\(|,)\\s{0,4}` +
        `(?:[bfru]{0,2}(?:"""|''')\\s{0,20}|(?:u8|[lu])?r"\\w{0,16}\\(|%?q[qw]?[{(\\[<!~]))` +
        '[^\\s"\'(){}\\[\\]<>|]{3,200}(?=\\s{0,20}(?:["\'(){}\\[\\]<>|]|$))',
      'gi',
    ),
    judge: isTyped,
  },
  // TOKEN ?= x, password==>x, password[0]=x
  {
    needs: '?=|=>|]=',
    pattern: new RegExp(
      `(${secretName}\\w{0,20}(?:[ \\t]{0,8}(?:\\?=|={2,3}>)|\\[\\w{0,20}\\]=)[ \\t]{0,4})` +
        '[^\\s"\'`&|;,$(){}<>=\\[\\]]{3,200}(?![\\w.(\\[])',
      'gi',
    ),
    judge: (value) => isTyped(value) && (isMixed(value) || isMadeUp(value)),
  },
  // &quot;password&quot;:&quot;x&quot;, password=&#34;x&#34;, &lt;password&gt;x&lt;
  {
    needs: '&quot;|&apos;|&#|&gt;',
    pattern: new RegExp(
      `(${secretName}\\w{0,20}(?:(?:${entity})?\\s{0,4}(?::|=(?:&gt;)?)\\s{0,4}${entity}|&gt;))` +
        '[^\\s&]{3,200}(?=&|$)',
      'gi',
    ),
    judge: isGiven,
  },
  // a field of a form
  {
    needs: 'name=',
    pattern: new RegExp(
      `(\\bname="?[\\w.[-]{0,40}${secretName}\\w{0,20}\\]?"?[^\\n"]{0,80}\\r?\\n` +
        '(?:content-[^\\n]{1,200}\\n){0,3}\\r?\\n)\\S{3,200}',
      'gi',
    ),
    judge: isGiven,
  },
  // page.fill('#password', 'x')
  quotedValue(
    isLiteral,
    'pass|pwd',
    '(?:(?:fill|type|setValue|set_value|send_?keys|' +
      `input)\\w{0,10}\\(\\s{0,3}["'][^"'\\n]{0,40}(?:passw(?:or)?d|pwd|` +
      `passwd)[^"'\\n]{0,20}["']\\s{0,3},|["'][^"'\\n]{0,40}(?:passw(?:or)?d|pwd|` +
      `passwd)[^"'\\n]{0,20}["']\\)?\\s{0,3}\\.(?:fill|type|send_?keys)\\()\\s{0,3}`,
  ),
];

/** What is compared, given and assigned in other ways than `name = value`. */
export const maskAssigned = tableOf(spellings);

/** What a text has to have before its calls are read. */
export const mayBeCall = new RegExp(
  `(?:${byLength.map(escaped).join('|')})(?:<[\\w,.? ]{0,60}>)?\\s{0,3}\\(|sp_|identified|` +
    'securestring|auth|cred|login|pass|pwd|secret|token|\\$\\{',
  'i',
);
