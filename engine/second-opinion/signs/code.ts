// Signs of commands and of code that a server runs: a command behind a separator, a template, a gadget.
import { sign, type Sign } from '../sign.js';

const raw = String.raw;
/** Programs whose names are no words. */
const tools =
  'getent|nslookup|whoami|uname|ifconfig|ipconfig|netstat|wget|curl|systeminfo|certutil|bitsadmin' +
  '|nohup|strace|gdb|c[89]9' +
  '|kubectl|cscli|visudo|chef-(?:vault|shell|run|client)|ansible(?:-[a-z]+|\\s+all)|tcpdump|nmap|socat|crontab|uconv';
const commands =
  'id|ls|dir|cat|tac|nl|more|less|head|tail|type|echo|printf|print|pwd|cd|ps|w|who|whoami|uname|hostname|ver|vol|set' +
  '|env|printenv|date|uptime|df|du|mount|find|grep|sort|awk|sed|cut|tee|xargs|which|rm|cp|mv|touch|chmod|chown|kill' +
  '|ping|curl|wget|fetch|nc|ncat|netcat|telnet|ssh|scp|ftp|tftp|nslookup|dig|host|getent|ifconfig|ipconfig|ip|arp' +
  '|netstat|net|route|bash|sh|zsh|ksh|csh|dash|busybox|python\\d?|perl|ruby|php|node|lua|gcc|sleep|timeout|true|false' +
  '|sudo|su|reg|wmic|sc|tasklist|systeminfo|start|copy|del|cmd|powershell|certutil|bitsadmin|reboot|shutdown|mail' +
  '|xterm|exec|eval|system|tar|phpinfo|cscript|wscript|mshta|rundll32|regsvr32';

export const codeSigns: readonly Sign[] = [
  sign(
    'shell-chain',
    ['code'],
    5,
    'a command behind a separator, with an argument or an end',
    raw`(?:[;|&\n\r\x60]|\$\(|%0a)[\s+'"\\(]*(?:[/\w?*]*/)?(?:${commands})(?:\.exe)?['"]?`,
    raw`(?:\s*(?:[;|&\x60)<>#'"]|\z)|[\s+]+(?:[-/.$%*~'"{<>\\@]|\d|[a-z]:|[a-z]\w*[./@:]|`,
    raw`[\w.]+\s*(?:[;|&\x60)]|\z))|[$])`,
  ),
  sign(
    'shell-first',
    ['code'],
    5,
    'a command at the beginning, with a separator, option, path or address behind it',
    raw`^['"\x60\s]*(?:${commands})(?:\.exe)?\s*(?:[;|&]|\s-{1,2}\w|\s/\w|\s[a-z]:|\s\S*/etc/`,
    raw`|\s\d+\.\d+\.|\s[>|<])`,
  ),
  sign(
    'shell-substitution',
    ['code'],
    5,
    'what a shell puts in place of an expression',
    raw`\$\(\s*[a-z/(<{]|\x60\s*[a-z/][^\x60]*\x60|\$\{?ifs\b|[<>]\(\s*[a-z]|\$\[\s*(?:\]|[\w$]+\s*[-+*/%])`,
    raw`|\$\{!?\w*(?:[#%^,@/]|:[-=?+])`,
  ),
  sign(
    'shell-path',
    ['code', 'file'],
    5,
    'the path of a program or device, or how a shell is started',
    raw`/s?bin/\w+|/dev/(?:tcp|udp|null)|2>&1|\bcmd(?:\.exe)?\s*/[ck]\b|\bpowershell(?:\.exe)?\s+-`,
    raw`|\bc:[\\/]+(?:win|users|inet)`,
  ),
  sign('shellshock', ['code'], 5, 'a function in an environment variable', raw`\(\)\s*\{`),
  sign('php-tag', ['code', 'script'], 5, 'the opening tag of PHP', raw`<\?(?:php|=)`),
  sign(
    'php-variable',
    ['code'],
    5,
    'a variable of PHP that holds the request',
    raw`\$_(?:get|post|request|cookie|server|files|env|session)\b|\$globals\b`,
  ),
  sign(
    'code-call',
    ['code'],
    5,
    'a call of a function that runs, reads or includes',
    raw`\b(?:system|exec(?:ute)?|passthru|shell_exec|phpinfo|assert|base64_decode|eval|call_user_func\w*`,
    raw`|popen|proc_open|file_(?:get|put)_contents|include(?:_once)?|require(?:_once)?|preg_replace|create_function`,
    raw`|unserialize|fopen|readfile|var_dump|print_r|md5)\s*\(`,
    raw`|\bserver\.(?:createobject|scripttimeout)|\bwscript\.shell|\w"&"\w+"&"`,
  ),
  sign(
    'script-statement',
    ['code'],
    5,
    'statements of a script: a loop or a variable that is a new object',
    raw`\bvar[\s+]+\w+[\s+]*=[\s+]*new[\s+]+\w+[\s+]*\(|\bdo[\s+]*\{[^}]*\}[\s+]*while[\s+]*\(`,
    raw`|\bwhile\s*\((?:true|1)\)`,
  ),
  sign(
    'lookup',
    ['code'],
    5,
    'a lookup of a logging library',
    raw`\$\{\s*(?:jndi|env|sys|java|lower|upper|date|ctx|base64|script)\s*:|\$\{[^}]*::-|\bjndi:`,
  ),
  sign(
    'template',
    ['code'],
    5,
    'an expression of a template engine, with arithmetic, a call or a name of the inside',
    raw`\{\{[^}]*[-+*/(|\[_'.][^}]*\}?|[$#@*]\{[^}]*[-+*(\[.][^}]*\}|<%|\{%|\bt\(java\.|freemarker|<#assign`,
    raw`|\b__(?:class|import|globals|builtins|subclasses|proto|reduce|init|mro)__|\bgetruntime|\bprocessbuilder`,
  ),
  sign(
    'gadget',
    ['code', 'script'],
    5,
    'a serialised object, or a class or module that runs something',
    raw`\bo:\d+:"|\ba:\d+:\{|ro0ab|kztaau|cs7qaf|aced0005|!!python/|\bjava\.lang\.|\bos\.system|\bsubprocess\.`,
    raw`|\bimport\s+socket`,
    raw`|\bchild_process|process\.mainmodule|require\s*\(\s*['"]`,
  ),
  sign('include-directive', ['code', 'script'], 5, 'a directive of server-side includes', raw`<!--\s*#\s*\w`),
  sign(
    'shell-tool',
    ['code'],
    5,
    'a program whose name is no word, behind a separator, at the beginning or behind a program that starts others',
    raw`(?:^|[;|&\n\r\x60]|\b(?:time|sudo|exec|env|nohup|strace|watch)[\s+])[\s+]*(?:${tools})(?:[\s+;|&\x60]|\z)`,
    raw`|\bsudo\s+-\w`,
  ),
  sign(
    'shell-glob',
    ['code', 'file'],
    5,
    'a path whose letters are wild cards or classes',
    raw`/\w*\[(?:[!^]?[a-z?]|[a-z]-[a-z]|\w?/+|[!^]\w+)\][a-z/]|/\w+\[[a-z]\](?:\s|\z)|/\?{2,}(?:/|\s|\z)`,
    raw`|/(?:etc|bin|usr|s?bin)/\w*[?*]`,
  ),
  sign(
    'shell-option',
    ['code'],
    5,
    'a word at the beginning or behind a separator, with an option, a redirection or an account',
    raw`^\s*[a-z][\w.-]*[\s+]+(?:[\w.]+[\s+]+){0,2}--?[a-z][\w-]*(?:[\s+=]|\z)`,
    raw`|[;|&\n\r\x60]\s*[a-z][\w.-]+(?:\s*/[a-z](?:\s|\z)|\s*[<>]\s*[\w./]|[\s+]+--?[a-z]|[\s+]+\w[\w.-]*@\w)`,
  ),
  sign(
    'shell-tilde',
    ['code'],
    5,
    'a directory of the stack of a shell',
    raw`(?:^|[\s;|&"=>])~[-+]\d*(?:[\s;|&"'<)/]|\z)`,
  ),
  sign(
    'shell-quotes',
    ['code'],
    5,
    'a first word with empty quotes in it',
    raw`(?:^|[;|&\n\x60])\s*[a-z]+(?:''|"")[a-z]+`,
  ),
  sign(
    'shell-braces',
    ['code'],
    5,
    'words in braces that a shell takes apart into a program and what it is given',
    raw`\{(?:${commands})\s*,\s*(?:\}|[-/.~$\d][^{}]*\})`,
  ),
  sign(
    'shell-pipe',
    ['code'],
    5,
    'what is given to a shell, or a program of Windows with its ending behind a separator',
    raw`\|\s*(?:(?:[bdkz]a?sh|sh)\s*(?:\z|[/|;&>]|\.\w{1,5}\z)|\$(?:0\b|\{?shell\b))`,
    raw`|[;|&]\s*(?:calc|notepad|mspaint|net1?|ping|whoami|explorer|task(?:kill|list)|[cw]script|msiexec)\.exe\b`,
    raw`|[;|&]\s*start\s+(?:calc|notepad|cmd|powershell|https?:|/b\b|\w+\.exe\b)`,
  ),
  sign('php-braces', ['code'], 5, 'an expression of PHP in braces', raw`\$\s+\{|\$\{\s*['"$]`),
];
