// Signs of paths that leave their directory and of files nobody asks for, and of header lines within a value.
import { sign, type Sign } from '../sign.js';

const raw = String.raw;
/** A dot or a separator as decoders that are too lenient read it: double encoding, overlong UTF-8, full width. */
const dot = raw`(?:\.|\?|%(?:25)*2e|%c0%[a2]e|%uff0e|0x2e|[\xc0-\xff][\x80-\xff]{0,5}[\^.]?)`;
const separator = raw`(?:/|\\|%(?:25)*(?:2f|5c)|0x(?:2f|5c)|%[c-f]\w%\w\w|%u\w{4}|%\w\w|[\x01-\x1f\x80-\xff]{1,6}|;/)`;

export const fileSigns: readonly Sign[] = [
  sign('traversal', ['file'], 5, 'steps upwards, plain or in an encoding', raw`(?:\.\.|${dot}{2})${separator}+`),
  sign('steps-up', ['code'], 5, 'steps upwards', raw`\.\.[/\\]`),
  sign(
    'system-file',
    ['file', 'code'],
    5,
    'a file of the operating system or of a server, with the directory it is in',
    raw`\b(?:etc|proc|windows|winnt|system32|drivers|self|inetpub|apache\w*|xampp|var|usr|root|home|opt|boot|web-inf`,
    raw`|meta-inf|conf\w*)(?:\W|0x\w\w|%u?\w{2,4}){1,12}(?:[\w.]+\W{1,4}){0,3}`,
    raw`(?:passwd|shadow|group|hosts?\b|issue|motd|fstab|environ|cmdline|version|httpd?\w*|nginx\w*|access|error`,
    raw`|web\.xml|sam\b|system32|drivers|\.?bash\w*|\w+\.(?:ini|conf|log|cnf|xml|exe|sys|bat))`,
  ),
  sign(
    'system-path',
    ['file', 'code'],
    5,
    'the path of something in a directory of the operating system',
    raw`(?:^|[\s'"=<>:(,;|&])/(?:etc|proc|sys|dev|root|boot|tmp|var/(?:log|run|lib|spool|mail|www))/[\w.-]*`,
  ),
  sign(
    'private-file',
    ['file', 'code'],
    5,
    'a file that a server keeps to itself',
    raw`(?:^|[/\\=])\.(?:git|svn|hg|env|ssh|aws|htaccess|htpasswd|bash_\w+|\w{0,8}history|bashrc|profile`,
    raw`|zsh\w+|npmrc|ds_store|docker|dockerenv|kube|gnupg|netrc|pgpass|my\.cnf)\b`,
    raw`|\b(?:boot|win|php|system|desktop)\.ini|web\.config|wp-config|id_rsa|web-inf|meta-inf|server\.xml`,
    raw`|global\.asax?|\.sql\.(?:zip|gz|bz2|xz|tar|tgz|rar|7z|bak)\b|\b(?:backup|dump)\.(?:sql|zip|tar|tgz|gz)\b`,
  ),
  sign('nul-byte', ['file', 'code', 'script'], 3, 'a NUL that ends a name early', raw`\x00|%00|\\0`),
  sign(
    'wrapper-address',
    ['file', 'code', 'script'],
    4,
    'an address with a scheme that reads files or runs something',
    raw`\b(?:php|expect|phar|zip|glob|rar|ogg|ssh2|file|gopher|dict|ldaps?|tftp|jar|netdoc|rmi`,
    raw`|view-source)\s*:\s*/{1,3}`,
  ),
  sign(
    'remote-file',
    ['file', 'code'],
    3,
    'a program at another host',
    raw`^\s*(?:https?|ftps?|smb|\\\\)[:/\\]+[^?\s]+\.(?:php\d?|txt|jsp|asp)\?`,
  ),
  sign(
    'header-line',
    ['header'],
    5,
    'a line break before a header field, a status line or markup',
    raw`[\r\n]\s*(?:[a-z][a-z0-9-]+\s*:|http/\d|<)|<(?:html|meta)\b`,
  ),
  sign(
    'request-line',
    ['header'],
    5,
    'a whole line that begins a request',
    raw`\b(?:get|head|post|put|patch|delete|options|trace|connect)\s+[a-z*/]\S*\s+http/\d`,
  ),
];
