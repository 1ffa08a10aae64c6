// Signs of commands and code that a server runs: a command behind a metacharacter, a call, a template, a gadget.
import { sign, type Sign } from '../sign.js';

const raw = String.raw;
const commands =
  'cat|ls|id|dir|ping|whoami|uname|ifconfig|ipconfig|netstat|net|type|echo|wget|curl|nc|ncat|bash|sh|zsh|ksh|csh|dash' +
  '|python\\d?|perl|ruby|php|sleep|timeout|ps|pwd|cd|rm|cp|mv|chmod|chown|kill|tail|head|more|less|grep|find|set|env' +
  '|printenv|nslookup|dig|host|getent|telnet|ssh|ftp|tftp|lynx|w|who|df|du|date|reg|wmic|systeminfo|tasklist|start' +
  '|copy|del|powershell|cmd|eval|exec|system|print|printf|touch|false|true|vol|ver|hostname|route|arp|sc|reboot' +
  '|shutdown|mail|sudo|su|xterm|which|tac|nl|sort|awk|sed|tar|busybox|phpinfo';

export const codeSigns: readonly Sign[] = [
  sign(
    'shell-chain',
    ['code'],
    5,
    'a command behind a metacharacter of a shell, with an argument or an end',
    raw`(?:[;|&\n\r\x60]|\$\(|\{|%0a)[\s+{(%'"\x60\\]*(?:/\S*/)?['"\\]?(?:${commands})['"\\]?`,
    raw`(?:\s*(?:[;|&\x60)<>,}]|\z)|[\s+]+(?:[-/.$%*~'"{<>\\]|[0-9]|c:|[a-z]+[./@:])|\$|\{|%|\.exe)`,
  ),
  sign(
    'shell-path',
    ['code', 'file'],
    5,
    'the path of a program or device, or how a shell is started',
    raw`/(?:usr/)?(?:local/)?s?bin/[\w.]+|\bcmd(?:\.exe)?\s*/[ckr]\b|\bpowershell(?:\.exe)?\s+-`,
    raw`|/dev/(?:tcp|udp|null|random)|c:[\\/]+(?:win|boot|inet)|%(?:comspec|systemroot|windir|userprofile)%`,
  ),
  sign(
    'shell-substitution',
    ['code'],
    5,
    'what a shell puts in place of an expression',
    raw`\$\(\s*[a-z/(<]|<\(|>\(|\x60\s*[a-z/]{2}[^\x60\r\n]*\x60|\$\{?ifs|\$@|\$\{[a-z]+:[^}]*\}`,
    raw`|\$\{#|\{[a-z]+,[^}]+\}|\$[a-z_]\w*[/'"]|\$\{!?\w+(?:[#%/^,@]|:[-=?+])`,
    raw`|\$\[\s*(?:[\w$]+\s*(?:[-+*/%<>&|^]|\*\*)\s*[\w$(]|\])`,
  ),
  sign(
    'shell-glob',
    ['code', 'file'],
    5,
    'a path with a class of characters in place of a letter, as shells complete it',
    raw`/\w*\[[!^]?(?:[a-z?*]|[a-z]{1,8}|\w-\w|[\w/]{0,8}/\w?)\][a-z]\w|/\w*\[\w{0,8}/{2,}\w{0,8}\]`,
    raw`|/(?:etc|bin|sbin|usr|proc|var)/[\w/.]*[?*][\w?*]*(?:[/\s;|&]|\z)|/\w*[a-z]\[(?:[a-z?*]|\w-\w)\](?:[/\s]|\z)`,
  ),
  sign(
    'shell-tilde',
    ['code'],
    5,
    'a directory of the stack of a shell, as a word',
    raw`(?:^|[\s;|&'"=:(])~[+-]\d{0,3}(?:[/\s;|&'")]|\z)`,
  ),
  sign(
    'shell-option',
    ['code'],
    5,
    'a word behind a metacharacter or at the beginning, with an option, an account at a host or a redirection',
    raw`[;|&\n\r\x60]\s*[a-z][\w.-]+(?:\s*/[a-z?]{1,2}(?:[\s:]|\z)|\s+(?:\d?>|<)\s*[\w./\\-]`,
    raw`|\s+--?[a-z]|\s+\w[\w.-]*@\w)|^\s*[a-z][\w.-]*\s+(?:[\w.]+\s+){0,2}(?:-[a-z]|--[a-z-]{2,})(?:[\s=]|\z)`,
  ),
  sign(
    'shell-runner',
    ['code'],
    5,
    'a program that runs another, and the other',
    raw`(?:^|[;|&\n\r\x60(])\s*(?:time|nohup|strace|ltrace|env|exec|sudo|doas|nice|xargs|watch|command|busybox|setsid`,
    raw`|stdbuf|chroot)\s+(?:-\S+\s+)*(?:\S*/)?(?:(?:${commands})\s*(?:[;|&\x60)]|\z)|(?:curl|wget|ping|bash|sh|nc`,
    raw`|ifconfig|whoami|uname|cat|ls|perl|python\d?)\s)`,
  ),
  sign(
    'shell-empty-quotes',
    ['code'],
    5,
    'the first word, with empty quotes between its letters',
    raw`(?:^|[;|&\n\r\x60(])\s*[a-z/]+(?:''|""|\\)[a-z]+(?:''|""|\\|[a-z])*(?:\s|\z)`,
  ),
  sign(
    'shell-tool',
    ['code'],
    5,
    'a program at the beginning whose name is no word',
    raw`^\s*(?:ansible-\w+|cscli|c[89]9|gdb|kubectl|journalctl|systemctl|nsenter|tcpdump|mysqldump|pg_dump|nmap|socat`,
    raw`|crontab|chattr|lsattr|lsblk|lscpu|lsof|useradd|usermod|chpasswd|apt-get|dpkg|rsync|uconv)(?:\s|\z)`,
  ),
  sign('php-expression', ['code'], 5, 'an expression of PHP in braces', raw`\$\s+\{|\$\s*\{\s*['"$]`),
  sign(
    'shell-command',
    ['code'],
    5,
    'a command at the beginning, with an option, path or address',
    raw`^[\s'"\x60;|&]*(?:ping|ls|cat|id|dir|ifconfig|ipconfig|netstat|uname|whoami|nslookup|wget|curl|echo|type|sleep`,
    raw`|ps|perl|python|php|bash|sh|nc|rm)(?:\.exe)?\s+(?:-{1,2}\w|/[\w.*]|/|\d{1,3}\.\d|https?:|\.\.?/`,
    raw`|[\w-]+(?:\.[\w-]+){2,}|\||;|&|>)`,
  ),
  sign('shellshock', ['code'], 5, 'a function in an environment variable', raw`\(\)\s*\{`),
  sign(
    'lookup',
    ['code'],
    5,
    'a lookup of a logging library',
    raw`\$\{[^}]*(?:jndi|lower|upper|env|sys|date|::-|java|\$\{|ctx:|script:|base64)|\bjndi\s*:`,
  ),
  sign(
    'template',
    ['code'],
    5,
    'an expression of a template engine',
    raw`\{\{.*\W|\{%|<%|#\{|\*\{|[$%#@]\{[^}]*[(+*.@\[]|<#assign|#set\s*\(`,
    raw`|\b__(?:class|import|globals|builtins|subclasses|proto)__|\bgetruntime|\bprocessbuilder|freemarker`,
  ),
  sign('php-tag', ['code', 'script'], 5, 'the opening tag of PHP', raw`<\?(?:php|=|\s)`),
  sign(
    'code-call',
    ['code'],
    5,
    'a call of a function that runs, reads, prints or includes',
    raw`(?:^|[^\w.])(?:system|exec|passthru|shell_exec|phpinfo|assert|base64_decode|eval|file_(?:get|put)_contents`,
    raw`|include(?:_once)?|require(?:_once)?|popen|proc_open|print(?:_r|f)?|echo|md5|fopen|readfile|create_function`,
    raw`|call_user_func\w*|preg_replace|unserialize|var_dump|gzinflate|chr|die|exit|fwrite|str_rot13|phpversion`,
    raw`|sleep)[\s'"/*]*(?:\(|\s['"\x60])`,
  ),
  sign(
    'php-variable',
    ['code'],
    3,
    'a variable of PHP that is read, set or called',
    raw`\$_?(?:get|post|request|cookie|server|files|env|session|globals)\b\s*[\[{;]|\$[a-z_]\w*\s*(?:=|\[|\()`,
  ),
  sign(
    'object-stream',
    ['code', 'script'],
    5,
    'a serialised object, or the name of a class that gadgets use',
    raw`\b[oca]:\d+:[{"]|ac\s?ed\s?00\s?05|ro0ab|kztaau|cs7qaf|!!python`,
    raw`|org\.apache\.|java\.(?:lang|io|util|net)|javax\.|com\.sun\.`,
  ),
  sign(
    'ssi',
    ['code', 'script'],
    4,
    'a directive of server-side includes',
    raw`<!--\s*#?\s*(?:exec|include|echo|config|printenv|set)|--!?>`,
  ),
];
