// Signs of paths that leave their directory, of files that servers keep to themselves, and of lines within a value.
import { sign, type Sign } from '../sign.js';

const raw = String.raw;
/** Sequences that UTF-8 forbids, since a shorter one means the same; no text in any language has them. */
const overlong =
  raw`(?:[\xc0\xc1](?:%\w\w|[\x00-\xff])|\xe0[\x80-\x9f][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]{2}` +
  raw`|[\xf8-\xff][\x80-\xff]{1,5})`;
/** Dots and separators as lax decoders read them: overlong, full width, hexadecimal, broken escapes, controls. */
const dot = raw`(?:${overlong}|%(?:25)*2e|%uff0e|0x2e)`;
const separator =
  raw`(?:${overlong}|%(?:25)*(?:2f|5c)|%u[0-9a-f]{4}|0x(?:2f|5c)|%[0-9a-z]?[g-z]` + raw`|[\x01-\x08\x0b\x0c\x0e-\x1f])`;
/** What may stand between two names of a path. */
const between = raw`(?:[/\\?.:^]|${overlong}|[\x01-\x1f]|%u?\w{1,4}|0x(?:2f|5c)){1,16}\w?`;

export const fileSigns: readonly Sign[] = [
  sign(
    'path-up',
    ['file', 'code'],
    5,
    'steps upwards',
    raw`\.\.[/\\]+(?:\.\.|\w)|\.{3}[/\\]+\.|\.\.;/|[/\\]\.\.(?:\W|\z)`,
  ),
  sign(
    'path-encoded',
    ['file'],
    5,
    'steps upwards that only a lax decoder reads',
    raw`(?:\.?${dot}|${dot}\.)(?:[/\\]|${separator})|[.?\\]{2,3}${separator}(?:[.?\\/%]|${overlong}|[a-z]{3})`,
    raw`|(?:0x2e){2}`,
  ),
  // Filters that take separators out, or step over what is too long, leave `/..............name` of a way upwards.
  sign(
    'path-dots',
    ['file'],
    5,
    'more dots in a row than prose has',
    raw`(?:^|[/\\:=])\.{4,}[/\\]|[/\\](?:\w{24,})?\.{6,}[a-z_{]|\.{2,}(?:etc(?:passwd|shadow|hosts)|web-infweb\.xml)`,
  ),
  sign('path-same', ['file'], 5, 'the same directory again and again', raw`(?:/+\.){3}/|(?:\./+){4}`),
  sign(
    'system-file',
    ['file', 'code'],
    5,
    'a file of the operating system, with its directory',
    raw`(?:etc${between}(?:passwd|shadow|group|hosts?|issue|motd|fstab|sudoers|crontab|resolv\.conf)`,
    raw`|proc${between}(?:self|version|cpuinfo|environ|cmdline|\d+)`,
    raw`|win(?:dows|nt)${between}(?:system32|win\.ini|repair)`,
    raw`|system32${between}(?:drivers|config|cmd)|inetpub${between}\w+|users?${between}\w+${between}ntuser)`,
  ),
  sign(
    'private-file',
    ['file', 'code'],
    5,
    'a file that a server keeps to itself, or a copy of a database',
    raw`\b(?:boot|win|php)\.ini\b|\bweb-inf[/\\]|\bweb\.xml\b|\bweb\.config\b|global\.asa|wp-config|\bid_rsa\b`,
    raw`|(?:^|[/\\])\.(?:git|svn|env|ssh|aws|htaccess|htpasswd|\w{0,8}history|npmrc|docker|kube)\b`,
    raw`|\.sql\.(?:zip|gz|bz2|xz|tar|tgz|7z)\b`,
  ),
  sign('path-share', ['file', 'code'], 5, 'a share of a Windows host', raw`\\\\[\w.:-]+\\+(?:[a-z]\$|\w+\$|admin)`),
  sign('nul-byte', ['file', 'code', 'script'], 3, 'a NUL that ends a name early', raw`\x00|%00`),
  sign(
    'uri-wrapper',
    ['file', 'code', 'script'],
    5,
    'a scheme that reads files or runs something',
    raw`\b(?:php|phar|zip|expect|file|gopher|dict|jar|ldaps?)\s*:\s*/{1,3}\w?`,
  ),
  sign(
    'inner-address',
    ['file', 'code'],
    3,
    'an address of the machine itself, of a cloud’s metadata, or of a tester’s listener',
    raw`//(?:[^/@\s]*@)?(?:127\.\d|localhost\b|\[?::1|169\.254\.169\.254|0x7f|metadata\.google)`,
    raw`|\b(?:burpcollaborator|interact\.sh|oast)\.|\boastify\b`,
  ),
  sign(
    'header-line',
    ['header', 'code'],
    5,
    'a line break, then a name of a header field, a status line or a command of a mail server',
    raw`[\r\n]\s*(?:(?:set-cookie|location|content-\w+|host|x-[a-z-]+)\s*:|http/\d|<`,
    raw`|\w{1,5}[\s+](?:capability|fetch\s|login\s|select\s)|(?:rcpt\s+to|mail\s+from)\s*:)`,
  ),
  sign('header-field', ['header'], 5, 'a line break, then a word and a colon', raw`[\r\n]\s*[a-z][\w-]*\s*:`),
  sign('header-markup', ['header'], 5, 'the beginning of a page', raw`<(?:html|meta|head)\b`),
  sign(
    'request-line',
    ['header'],
    5,
    'the first line of a request',
    raw`\b(?:get|post|put|head|delete)\s+\S+\s+http/\d`,
  ),
  sign(
    'system-path',
    ['file', 'code'],
    5,
    'an absolute path of a Unix system',
    raw`(?:^|[\s=<>"':(;|&])/(?:etc|proc|sys|dev|tmp|root|var/(?:www|log|run))/`,
  ),
];
