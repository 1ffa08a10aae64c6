// Passwords in command lines, by the option that takes one: `-p` is a password of sshpass and a port of docker run. A
// row names commands and their options:
//   -p     the value is the next word (or behind = or :)       -p*  also without a blank: -pvalue
//   -p!    only without a blank (mysql -p alone asks for it)   -u:  name:value      -U%  name%value
import { hide } from '../values.js';
import { commandForms } from './command-forms.js';
import { gap, isTyped, open, tableOf, value } from './spelling.js';

const rows: readonly (readonly [commands: string, options: string])[] = [
  [
    'mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlbinlog mysqlslap mysqlpump ' +
      'mysql_upgrade mysqlsh ' +
      'mariadb mariadb-dump mariadb-admin mycli mydumper xtrabackup innobackupex mariabackup 7z 7za 7zr 7zz',
    '-p!',
  ],
  ['rar unrar', '-p! -hp!'],
  ['sshpass hydra medusa useradd usermod adduser steghide beeline cqlsh cypher-shell couchbase-cli', '-p*'],
  ['mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop mongofiles', '-p*'],
  ['crackmapexec cme nxc netexec evil-winrm smbmap rdesktop rabbitmqadmin twine psexec paexec enum4linux', '-p'],
  ['bloodhound-python certipy ldapdomaindump racadm winrs certutil db2cli iisapp pkiutil arangosh ncrack', '-p -p:'],
  ['redis-cli valkey-cli keydb-cli redis-benchmark', '-a --pass'],
  ['sqlcmd bcp osql tsql mosquitto_pub mosquitto_sub mosquitto_rr ipmitool zip unzip zipcloak fcrackzip', '-P*'],
  ['ssh-keygen', '-N -P'],
  ['ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami ldapcompare ldapmodrdn ldapexop', '-w* -s -a'],
  ['vsql kadmin dsconf ldclt dsidm', '-w -pw'],
  ['snmpwalk snmpget snmpset snmpbulkwalk snmpbulkget snmpgetnext snmptrap snmptable snmpinform', '-c* -A -X'],
  ['snmpdelta snmpdf snmpstatus snmpnetstat snmpcheck snmp-check onesixtyone', '-c -A -X'],
  ['openssl', '-k -K -psk -srppass'],
  ['plink pscp psftp putty kitty kadmin.local', '-pw'],
  ['curl', '-u: -u:* -U: -U:* --user: --proxy-user: -E: --cert: --proxy-pass --pass --oauth2-bearer --tlspassword'],
  ['smbclient rpcclient smbget smbtree smbcacls smbcquotas net winexe wmic nmblookup', '-U% -U%* --user%'],
  ['wbinfo', '-a% --authenticate%'],
  ['lftp', '-u,'],
  ['ncftp ncftpput ncftpget db2 isql-fb gsec gbak gfix', '-p -pas -password'],
  ['fisql isql', '-p -pas -password -P*'],
  ['swift', '-K'],
  ['schtasks', '/rp /p'],
  ['signtool sn mt', '/p'],
  ['xfreerdp xfreerdp3 wfreerdp sdl-freerdp mstsc', '/p: /gp: /pth:'],
  ['netdom dsmod dsadd', '/pd: /passwordd: /pd /passwordd -pwd'],
  ['nikto', '-id:'],
  ['impacket-\\w{3,30}', '--hashes:'],
  ['sqlmap', '--auth-cred: --auth-cred:* --proxy-cred:'],
  ['skopeo', '--src-creds: --dest-creds: --creds:'],
  ['http https xh', '-a: --auth:'],
  ['ab siege', '-A: -P:'],
];
/** Commands of two words; words may stand between them. */
const subcommands: readonly (readonly [commands: string, options: string])[] = [
  ['docker podman nerdctl buildah oras crane helm regctl cf oc ibmcloud az rancher argocd heroku>login', '-p* -p'],
  ['dotnet nuget>push add update', '-k -p'],
  ['security>unlock-keychain create-keychain add-generic-password add-internet-password import', '-p -P -w -k'],
  ['xcrun>altool notarytool', '-p'],
  ['sudo su>-S', '-p!'],
];

const escaped = (text: string): string => text.replace(/[.+/]/g, '\\$&');

function headOf(option: string): string {
  const [, dashed = '', mark = '', star = ''] = /^([-/]{1,2}[\w-]+)([:%,!]?)(\*?)$/.exec(option) ?? [];
  const name = `(?:[ \\t]{1,4}|\\\\?["'],\\s{0,4}\\\\?["']|^)${escaped(dashed)}`;
  if (dashed.startsWith('/')) return `${name}(?::|[ \\t]{1,4})${open}`;
  const behind = star === '*' ? `(?:[=:]|${gap})?${open}` : `(?:[=:]|${gap})${open}`;
  if (mark === '!') return `${name}${open}(?![\\s=-])`;
  return mark === '' ? name + behind : `${name}${behind}[^\\s"'${mark}]{1,64}${mark}${open}`;
}

interface Options {
  readonly pattern: RegExp;
}
const optionsOf = (options: string): Options => ({
  pattern: new RegExp(`(${options.split(' ').map(headOf).join('|')})${value}`, 'g'),
});

const known = new Map<string, Options>();
for (const [commands, options] of rows) {
  const compiled = optionsOf(options);
  for (const command of commands.split(' ')) known.set(command, compiled);
}
const families = [...known].filter(([name]) => name.includes('\\'));
const twoWords = subcommands.map(([words, options]) => {
  const [first = '', second = ''] = words.split('>');
  return { first: new Set(first.split(' ')), second: new Set(second.split(' ')), ...optionsOf(options) };
});

const names = [...known.keys(), ...twoWords.flatMap(({ first }) => [...first])].map((name) =>
  name.includes('\\') ? name : escaped(name),
);
const command = new RegExp(`(?<![\\w-])(${[...new Set(names)].join('|')})(?:\\.exe)?(?=["']?[\\s,])`, 'gi');

const lineMax = 400;
/** To the end of the command: a quotation that is not closed, a pipe or a line ends it; of a list, its bracket. */
const rest = /(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|[^|;&\n"'])*/y;

function restOf(text: string, from: number): string {
  const line = text.slice(from, from + lineMax);
  if (/^\\?["']\s{0,3},/.test(line)) return /^[^\])\n]*/.exec(line)?.[0] ?? '';
  rest.lastIndex = 0;
  const end = rest.exec(line)?.[0] ?? '';
  // the quotation mark that opens the last value is not closed where the text was cut
  return end.length < line.length && /["']/.test(line[end.length] ?? '') && /[ =:\w]$/.test(end)
    ? (/^[^\n]*/.exec(line)?.[0] ?? end)
    : end;
}

function optionsFor(name: string, line: string): Options | undefined {
  const own = known.get(name) ?? families.find(([form]) => new RegExp(`^${form}$`, 'i').test(name))?.[1];
  if (own !== undefined) return own;
  const words = line.slice(0, 120).split(/[\s"',]+/);
  return twoWords.find(({ first, second }) => first.has(name) && words.some((word) => second.has(word)));
}

function maskOptions(text: string): string {
  let masked = '';
  let done = 0;
  for (const match of text.matchAll(command)) {
    const from = match.index + match[0].length;
    if (from < done) continue;
    const line = restOf(text, from);
    const options = optionsFor((match[1] ?? '').toLowerCase(), line);
    if (options === undefined) continue;
    const shown = line.replace(options.pattern, (all: string, head: string) => {
      const found = all.slice(head.length);
      return isTyped(found) ? head + hide(found) : all;
    });
    if (shown === line) continue;
    masked += text.slice(done, from) + shown;
    done = from + line.length;
  }
  return masked + text.slice(done);
}

export const commandNames = [...new Set([...known.keys(), ...twoWords.flatMap(({ first }) => [...first])])].map(
  (name) => name.replace(/\\.*$/, ''),
);

/** One look for all tables of this file. */
export const mayBeCommand = new RegExp(
  `(?<![\\w-])(?:${names.join('|')})(?:\\.exe)?["']?[\\s,]|` +
    '\\s["\']?[-/][\\w-]{0,30}(?:pass|pwd|psk|secret|token|key|auth)|--from-literal|net1?\\s{1,3}user?\\b|' +
    'htpasswd|_passwd|rabbitmqctl|\\b(?:echo|print|printf|write-output)\\s[^|]{0,250}\\||<<<|' +
    'wpa_pass|nmcli|sqlplus|sqlldr|rman\\b|\\.py\\b|vault|config:set|' +
    'secrets?\\s+(?:set|put)|npm\\s|composer\\s|\\bbw\\s|\\bmc\\s|configure\\s|user-secrets|' +
    'rclone|encrypt_string|pdftk|qpdf|dscl|rasdial|bitsadmin|autologon|\\bmount\\b|\\bsc(?:\\.exe)?\\s|' +
    '\\breg(?:\\.exe)?\\s{1,3}add|\\bnet1?\\.exe|\\b(?:export|set|setx|setenv|env|declare|typeset|ARG)\\s|' +
    '--?e(?:nv)?\\s|' +
    '--extra-vars|' +
    '\\bsend(?:line|_user)?(?:\\s{1,3}--)?[\\s(]{1,3}["\']|PASS\\s|(?:^|[\\n;"\'])[ ' +
    '\\t]{0,8}(?:quote\\s{1,3})?user\\s',
  'i',
);

const maskForms = tableOf(commandForms);

/** The text of command lines without their passwords. */
export const maskCommands = (text: string): string => maskForms(maskOptions(text));
