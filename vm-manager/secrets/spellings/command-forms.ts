// Passwords in command lines by their place: behind a subcommand, a name, a pipe. Options are in commands.ts.
import { gap, isGiven, isTyped, isUnspeakable, open, value, type Judge, type Spelling } from './spelling.js';

const withoutEnd = (text: string): string => text.replace(/(?:\\[rn]){1,2}$/, '');
const isSent: Judge = (text) => isTyped(withoutEnd(text));
const isSentAlone: Judge = (text) => isUnspeakable(withoutEnd(text));

const consumers = [
  '--password-stdin|--pass-?stdin|--with-token|--stdin|chpasswd|passwd|kinit|su|vncpasswd|smbpasswd|sshpass|htpasswd',
  'sudo(?:\\s+-\\w+){0,4}\\s+-\\w*S\\w*|(?:docker|podman|vault|wrangler|gh|fly|heroku)[^\\n|' +
    ']{0,60}\\s(?:secret|login|auth)\\b',
  'openssl[^\\n|]{0,80}\\sstdin|gpg2?[^\\n|]{0,120}--passphrase-fd|cryptsetup|realm|openconnect|pass\\s+insert',
].join('|');

const line = (head: string, judge = isTyped, flags = 'gi', needs = ''): Spelling => ({
  pattern: new RegExp(`(${head})${value}`, flags),
  needs,
  judge,
});

/** Between two words of a command: a blank, a line that goes on, or a line break that was escaped. */
const between = '(?:[ \\t]|\\^\\r?\\n|`\\r?\\n|&#(?:10|32|9|x0?[9a]|x20);|\\\\[nt](?=[ \\w])){1,4}';
const netUse = '\\bnet1?(?:\\.exe)?["\']?[ \\t]{1,3}use\\b';
/** Of `net use`: a device, a share or address, an option with its value. What is none of these is the password. */
const netWord =
  '(?:\\\\?"\\\\\\\\[^"\\n]{1,200}"|\\\\\\\\[^\\s"&|]{1,200}|https?:\\/\\/[^\\s"]{1,200}|' +
  '\\w:(?=\\s)|\\*(?=\\s)|lpt\\d|' +
  '\\/u(?:ser)?[ :]{1,3}(?:\\\\?"[^"\\n]{1,64}"|[^\\s":]{1,64}(?:"[^"\\n]{1,64}")?)|' +
  '\\/\\w{1,20}(?::[\\w-]{1,20})?(?=\\s))';

/** Commands of Windows and of shares that take a password by its place or under a name of their own. */
const ofWindows: readonly Spelling[] = [
  line(
    `\\brasdial(?:\\.exe)?\\s{1,3}(?:"[^"\\n]{1,80}"|[^\\s"/]{1,80})\\s{1,3}(?!\\/)\\S{1,64}\\s{1,3}${open}(?!\\/)`,
    isTyped,
    'gi',
    'rasdial',
  ),
  line(
    `\\bbitsadmin\\b[^\\n]{0,40}\\/setcredentials\\s{1,3}\\S{1,80}\\s{1,3}` +
      `(?:server|proxy)\\s{1,3}\\w{1,12}\\s{1,3}\\S{1,64}\\s{1,3}${open}`,
    isGiven,
    'gi',
    'bitsadmin',
  ),
  line(`\\bsc(?:\\.exe)?\\s[^\\n]{0,200}?\\spassword=\\s{0,3}${open}`, isGiven, 'gi', 'password='),
  line(`\\breg(?:\\.exe)?\\s{1,3}add\\b[^\\n]{0,200}?passw[^\\n]{0,60}?\\s\\/d\\s{1,3}${open}`, isGiven, 'gi', 'passw'),
  line(
    `\\bautologon(?:64)?(?:\\.exe)?(?:\\s{1,3}\\/\\w{1,12}){0,2}\\s{1,3}` +
      `(?!\\/)\\S{1,64}\\s{1,3}\\S{1,64}\\s{1,3}${open}`,
    isUnspeakable,
    'gi',
    'autologon',
  ),
  line(`\\bsmbclient\\s{1,3}(?:\\/\\/|\\\\\\\\)\\S{1,120}\\s{1,3}${open}(?!-)`, isGiven, 'gi', 'smbclient'),
  line(
    `\\bmount(?:\\.\\w{1,8})?\\b[^\\n]{0,200}?\\s-o[ =]?[^\\s]{0,200}?\\b(?:pass|password|cred(?:ential)?s?)=${open}`,
    isGiven,
    'gi',
    'mount',
  ),
  line(
    '\\bmount(?:\\.\\w{1,8})?\\b[^\\n]{0,200}?\\s-o[ =]?[^\\s]{0,200}?\\buser(?:name)?=[^\\s,%]{1,64}%',
    isGiven,
    'gi',
    'mount',
  ),
  // settings of a shell are no code: what stands behind the name is the value, also a word
  line(
    '(?<![\\w-])(?:export|set|setx|env|declare\\s{1,3}-x|typeset\\s{1,3}-x|-e|--env|--extra-vars|setenv|ENV|ARG)' +
      '\\s{1,3}["\']?\\w{0,40}(?:passw(?:or)?d|passwd|pwd|_pass|passphrase|secret|token|api_?key)\\d?' +
      `(?:=|(?<=setx\\s{1,3}\\S{1,60}|setenv\\s{1,3}\\S{1,60})\\s{1,3})${open}`,
    isGiven,
    'gi',
    'pass|pwd|secret|token|key',
  ),
];

/** Ways of their own: the value has no option. */
export const commandForms: readonly Spelling[] = [
  // any command: --db-pass x, -storepass x, -Password x, /pwd:x
  line(
    '(?<![\\w-])(?:--?(?!-|no-|ask-|prompt-)[\\w-]{0,30}(?:passw(?:or)?d|pass|passwd|pwd|' +
      'passphrase|passcode|secret|token|' +
      `api-?key|access-?key|secret-?key|account-?key|psk|requirepass|master-?auth)(?:[=:]|${gap})` +
      `|\\/[\\w-]{0,20}(?:password|pass|pwd|token):)${open}`,
    isTyped,
    'gi',
    'pass|pwd|secret|token|key|psk|auth',
  ),
  line(`\\s-pass(?:in|out|word)?${gap}${open}pass:`, isGiven, 'g', 'pass:'),
  line(`\\s--?(?:ks-|key-)?pass(?:in|out|word)?${gap}${open}pass:`, isGiven, 'g', 'pass:'),
  line(`--from-literal[= ]${open}[\\w.-]{1,100}=${open}`, isGiven, 'gi', '--from-literal'),
  line(`${netUse}(?:${between}${netWord}){1,6}${between}${open}(?![/^\\\\]|\\w:(?:\\s|$))`, isGiven, 'gi', 'net'),
  line(
    `\\bnet1?(?:\\.exe)?["']?\\s{1,3}user\\s{1,3}(?!\\/)\\S{1,64}\\s{1,3}${open}(?!\\/)`,
    isUnspeakable,
    'gi',
    'net',
  ),
  line(
    `\\bnet1?(?:\\.exe)?["']?\\s{1,3}user\\s{1,3}(?!\\/)\\S{1,64}\\s{1,3}${open}` +
      '(?=\\S{3,64}\\s{1,3}\\/(?:add|domain|y))',
    isGiven,
    'gi',
    'net',
  ),
  ...ofWindows,
  line(
    '\\bhtpasswd(?:\\s{1,3}-\\w{1,8}){0,4}?\\s{1,3}-(?=\\w{0,6}b)(?=\\w{0,6}n)\\w{1,6}(?:\\s{1,3}-\\w{1,8}){0,4}' +
      `\\s{1,3}[^\\s-]\\S{0,99}\\s{1,3}${open}`,
    isTyped,
    'gi',
    'htpasswd',
  ),
  line(
    '\\b(?:htpasswd|mosquitto_passwd)(?:\\s{1,3}-\\w{1,8}){0,4}?\\s{1,3}-(?=\\w{0,6}b)(?!\\w{0,6}n)\\w{1,6}' +
      `(?:\\s{1,3}-\\w{1,8}){0,4}\\s{1,3}[^\\s-]\\S{0,199}\\s{1,3}\\S{1,99}\\s{1,3}${open}`,
    isTyped,
    'gi',
    'passwd',
  ),
  line(
    `\\brabbitmqctl\\b[^\\n]{0,60}?\\s(?:add_user|change_password|authenticate_user)\\s{1,3}\\S{1,64}\\s{1,3}${open}`,
    isTyped,
    'gi',
    'rabbitmqctl',
  ),
  line(
    `\\b(?:echo|printf|print|write-output)(?:\\s{1,3}-\\w{1,3}){0,3}\\s{1,3}(?:["']?%s(?:\\\\n)?[` +
      `"']?\\s{1,3})?${open}` +
      '(?:[\\w.-]{1,64}:(?=[^\\n]{0,200}chpasswd))?(?=[^\\n|]{1,200}\\|\\s{0,3}(?:[^\\n|' +
      `]{0,80}[\\s/])?(?:${consumers})(?![\\w-]))`,
    isTyped,
    'gi',
    'echo|print|write-output',
  ),
  line(
    '\\b(?:passwd|kinit|sudo\\s+-\\w*S|su|vncpasswd|cryptsetup|smbpasswd|' +
      `login)\\b[^\\n<]{0,80}<<<\\s{0,3}${open}(?:[\\w.-]{1,64}:)?`,
    isTyped,
    'gi',
    '<<<',
  ),
  line(`\\bchpasswd\\b[^\\n<]{0,80}<<<\\s{0,3}${open}[\\w.-]{1,64}:`, isGiven, 'gi', '<<<'),
  line(
    `\\bwpa_passphrase\\s{1,3}(?:"[^"\\n]{1,64}"|'[^'\\n]{1,64}'|[^\\s\\\\"']\\S{0,63})\\s{1,3}${open}`,
    isTyped,
    'gi',
    'wpa_passphrase',
  ),
  line(
    `\\bnmcli\\b[^\\n]{0,160}?\\s(?:password|[\\w.-]{0,40}(?:psk|wep-key\\d?|password))\\s{1,3}${open}`,
    isTyped,
    'gi',
    'nmcli',
  ),
  line(
    '\\b(?:sqlplus|sqlldr|expdp?|impdp?|rman|tkprof|sqlcl|' +
      `sql)\\b[^\\n]{0,60}?\\s["']?\\w[\\w.$#-]{0,30}\\/(?=[^\\s"'/@]{3,64}@)`,
    isGiven,
    'gi',
    '@',
  ),
  line(
    `\\b(?:sqlplus|sqlldr|rman)\\b(?:\\s{1,3}-\\w{1,3}){0,3}\\s{1,3}["']?\\w[\\w.$#-]{0,30}\\/`,
    isUnspeakable,
    'gi',
    'sqlplus|sqlldr|rman',
  ),
  line(
    `\\bisql\\s{1,3}(?:-\\w{1,3}\\s{1,3}){0,3}[^\\s-]\\S{0,64}\\s{1,3}\\w\\S{0,64}\\s{1,3}${open}`,
    isUnspeakable,
    'gi',
    'isql',
  ),
  line(`\\bdb2\\b[^\\n]{0,120}?\\suser\\s{1,3}\\S{1,64}\\s{1,3}using\\s{1,3}${open}`, isTyped, 'gi', 'db2'),
  line(
    '\\b(?:impacket-\\w{3,30}|(?:ps|smb|wmi|dcom|at)exec\\.py|(?:secretsdump|get\\w{2,12}|' +
      'lookupsid|mssqlclient|smbclient|' +
      'rpcdump|samrdump|addcomputer|reg|services|rbcd|dacledit|owneredit|ntlmrelayx|changepasswd|' +
      `smbpasswd)\\.py)\\b[^\\n]{0,100}?\\s["']?[\\w./\\\\$-]{1,60}:${open}`,
    isTyped,
    'gi',
    'impacket|.py',
  ),
  line(
    `\\bvault\\s{1,3}(?:kv\\s{1,3}put|write|login)\\s[^\\n=]{0,120}?\\s[\\w.-]{1,60}=${open}(?!@)`,
    isUnspeakable,
    'gi',
    'vault',
  ),
  line(`\\bvault\\s{1,3}login\\s{1,3}${open}(?!-)`, isUnspeakable, 'gi', 'vault'),
  line(
    '\\b(?:heroku\\s{1,3}config:set|(?:fly|flyctl|doppler|wrangler|' +
      'gh)\\s{1,3}secrets?\\s{1,3}(?:set|put)|gh\\s{1,3}secret\\s{1,3}set\\s[^\\n]{0,60}(?:-b|' +
      `--body))[^\\n=]{0,60}?[\\s=]${open}(?:\\w{1,60}=)?`,
    isUnspeakable,
    'gi',
    'heroku|fly|doppler|wrangler|gh ',
  ),
  line(`\\bbw\\s{1,3}(?:unlock|login\\s{1,3}\\S{1,80})\\s{1,3}${open}(?!-)`, isTyped, 'gi', 'bw '),
  line(
    '\\bmc\\s{1,3}(?:alias\\s{1,3}set|config\\s{1,3}host\\s{1,3}add)\\s{1,3}\\S{1,64}\\s{1,3}\\S{' +
      `1,120}\\s{1,3}\\S{1,64}\\s{1,3}${open}`,
    isTyped,
    'gi',
    'mc ',
  ),
  line(
    `\\bconfigure\\s{1,3}set\\s{1,3}\\S{0,60}(?:secret|token|password)\\S{0,40}\\s{1,3}${open}`,
    isTyped,
    'gi',
    'configure ',
  ),
  line(
    `\\buser-secrets\\s{1,3}set\\s{1,3}(?:"[^"\\n]{1,100}"|\\S{1,100})\\s{1,3}${open}`,
    isTyped,
    'gi',
    'user-secrets',
  ),
  line(`\\brclone\\s{1,3}obscure\\s{1,3}${open}`, isTyped, 'gi', 'rclone'),
  line(`\\bencrypt_string\\s{1,3}${open}(?!-)`, isTyped, 'gi', 'encrypt_string'),
  line(
    '\\b(?:composer\\s{1,3}config\\s[^\\n]{0,60}?(?:http-basic|bearer|oauth|' +
      'token)\\S{0,80}(?:\\s{1,3}\\S{1,64})?|npm\\s{1,3}(?:config\\s{1,3})?set\\s{1,3}\\S{0,120}(?:' +
      `_authToken|_password|_auth))[\\s=]{1,3}${open}`,
    isTyped,
    'gi',
    'composer|npm',
  ),
  line(`\\bpdftk\\b[^\\n]{0,160}?\\s(?:user_pw|owner_pw|input_pw)\\s{1,3}${open}`, isTyped, 'gi', 'pdftk'),
  line(`\\bqpdf\\b[^\\n]{0,60}?\\s--encrypt\\s{1,3}(?:\\S{1,64}\\s{1,3})?${open}`, isTyped, 'gi', 'qpdf'),
  line(`\\bdscl\\b[^\\n]{0,40}?-passwd\\s{1,3}\\S{1,120}\\s{1,3}${open}`, isTyped, 'gi', 'dscl'),
  line(
    `\\bopenssl\\s{1,3}passwd(?:\\s{1,3}-(?:\\d|apr1|crypt|stdin|salt\\s{1,3}\\S{1,32})){0,4}\\s{1,3}${open}(?!-)`,
    isTyped,
    'gi',
    'openssl',
  ),
  // expect: send "…\r"
  line(`assword[^\\n]{0,60}\\s{1,8}send(?:_user)?\\s{1,3}(?:--\\s{1,3})?["']`, isSent, 'gi', 'send'),
  line(
    `\\bsend(?:line)?(?:\\s{1,3}--)?[\\s(]{1,3}["'](?=[^"'\\s]{5,80}(?:\\\\[rn]){1,2}["'])`,
    isSentAlone,
    'gi',
    'send',
  ),
  // ftp: user name password
  line(
    `(?:^|[\\n;"'])[ \\t]{0,8}(?:quote\\s{1,3})?(?:user\\s{1,3}\\w[\\w.@-]{0,64}|PASS)[ \\t]{1,3}(?!["'])`,
    isUnspeakable,
    'g',
    'user|pass',
  ),
];
