// Rules that score and stop nothing: they note values for the second opinion (engine/second-opinion/), which nothing
// else of the rules matched at the levels that block. They are part of the automata, so that a request in which nothing
// is to be noted pays for nothing else. They carry the tags of their categories, so that switches and exclusions of a
// category are theirs as well.
import type { RuleSettings } from '#settings';

const raw = String.raw;

interface EvidenceRule {
  /** Of engine/second-opinion/evidence-rules.ts. */
  readonly id: number;
  readonly tag: string;
  readonly variables: string;
  readonly pattern: string;
  /** How often the value is decoded; 1. */
  readonly decoded?: 1 | 2;
}

const values = 'ARGS|ARGS_NAMES|REQUEST_COOKIES|XML:/*';
/** Such as are no words of prose: `tea;cat;milk` is a list. */
const commands =
  'dir|ping|whoami|uname|ifconfig|ipconfig|netstat|echo(?:[\\s+]+\\S|[^\\s\\w+/-])|wget|curl|bash' +
  '|nslookup|getent|hostname|systeminfo' +
  '|(?:cat|ls|type|set|net|sleep|nc|python|perl|php|sed|awk)\\s+[-/.$0-9\\\\]|(?:false|true)[;|&\\x60]';

/** `passport&id` is two words: behind one ampersand it counts where next to nothing is before, or something behind. */
const asId =
  raw`(?:[;|\n\x60]|\$\(|&&)[\s+'"]*id|&[\s+'"]*id\s*[;|&<>#)]` +
  raw`|(?:^|[^a-z0-9&])[a-z0-9]{0,2}&[\s+'"]*id\s*(?:$|[/\x60]|\.\w{1,5}$)`;

/** Words in braces that a shell takes apart: a program, and nothing, an option or a path behind it. */
const braces =
  raw`\{(?:cat|ls|id|nc|curl|wget|ping|bash|sh|rm|cp|mv|echo|head|tail|uname|whoami|find|python\d?|perl|php|sed|awk)` +
  raw`\s*,\s*(?:\}|[-/.~$\d])`;
/** Programs of Windows with their ending, or as they are started. */
const windows =
  raw`[;|&]\s*(?:(?:calc|notepad|mspaint|net1?|ping|whoami|explorer|task(?:kill|list)|[cw]script|msiexec)\.exe\b` +
  raw`|start\s+(?:calc|notepad|cmd|powershell|https?:|/b\b|\w+\.exe\b))`;

/**
 * What databases read as white space, or a bracket. Any length, any number of them: bounds would let nine blanks by,
 * and make the automata unroll them (two seconds for each of the four databases that hold the rule, in place of 0.15).
 */
const gap = raw`(?:[\s()]|/\*[^*]*\*/)`;
const verbs = 'select|insert|update|delete|drop|create|alter|truncate|exec(?:ute)?|declare|shutdown|waitfor';

/** Of Windows and of shells, as they are called with an argument or alone. */
const programs =
  '(?:powershell|pwsh|certutil|bitsadmin|wmic|tasklist|mshta|rundll32|regsvr32|reboot|base64|ls)(?:\\.exe)?' +
  '(?:[\\s;|&/<>\\x60]|$)|net1?\\s+(?:user|localgroup)\\b';

/** In `$(…)` and `<(…)`, where such a word does not stand by chance. */
const inside = 'ls|cat|id|ps|cp|mv|rm|sh|nc|env|curl|wget|printf|find|tee|head|tail|who|pwd';

/** The rules of the CRS for these kinds do not look at paths at level 1, so these know more than those for values. */
const rulesOfPaths: readonly EvidenceRule[] = [
  {
    id: 1_006_604,
    tag: 'OWASP_CRS/ATTACK-SQLI',
    variables: 'REQUEST_FILENAME|FILES',
    decoded: 2,
    pattern:
      raw`(?i)(?:\b(?:x?or|and|having|where|if|when)\b[^a-z0-9]{1,8}[\w.,'"()@\x60\[\]]{1,40}['"\x60)\s]{0,4}` +
      raw`(?:=|<|>|\blike\b|\bin\b|\bis${gap}+(?:not${gap}+)?null\b)` +
      raw`|['"\x60]${gap}*(?:(?:x?or|and|union|having|where|order|group|limit|like|in` +
      raw`|between|is|select)\b|\|\||&&|[|^&=])|\d(?:\|\||&&)|['"\x60\w)]${gap}*(?:(?:--|#)[\s-]*(?:$|/)|;\s*$)` +
      raw`|\bunion\b${gap}+(?:(?:all|distinct)\b${gap}+)?select\b${gap}+(?:[\d'"@*]|null\b|\w+\s*[,(]` +
      raw`|\w+${gap}+from\b)|\bselect\b.{1,120}\bfrom\b|\bselect${gap}+(?:@@|\w+_user\b|\w+\()` +
      raw`|\binto${gap}+(?:out|dump)file\b|\bprocedure${gap}+analyse\b` +
      raw`|\bunion${gap}+values${gap}*\(` +
      raw`|\b(?:and|or)${gap}+(?:not${gap}+)?exists${gap}+select\b|\(\s*select\s+[^()]{1,40}\)\s*[<>=]` +
      raw`|[\d'")](?:[-+*/]|\|\|)\(\s*select\s` +
      raw`|;\s*(?:${verbs})(?:[\s(]|/\*)|\b(?:order|group)${gap}+by${gap}+\d+\s*(?:--|#|/\*|;|,|having\b)` +
      raw`|(?:(?:^|/)-?\d+|['")])${gap}+(?:x?or|and)${gap}+(?:not${gap}+)?(?:true|false)\b` +
      raw`|(?:^|/)-?\d+\s*(?:\|\||&&)\s*\d+\s*(?:$|/)` +
      // sleep(2) alone is a page of a manual, and a copy of a file
      raw`|(?:\b(?:and|x?or|if|when|then|else|select|r?like|not|where|by|in)[\s(]+|[(,=+*|&^<>'"\x60;-]\s*|\*/)` +
      raw`sleep(?:/\*[^*]*\*/)?\(\s*['"\d]|\bsleep\(\s*['"\d][^()]{0,20}\)\s*(?:[-#;,+*|&=<>'")]|/\*)` +
      raw`|\b(?:pg_sleep|benchmark|extractvalue|updatexml|load_file|randomblob)(?:/\*[^*]*\*/)?\(\s*['"\d])`,
  },
  {
    id: 1_006_605,
    tag: 'OWASP_CRS/ATTACK-RCE',
    variables: 'REQUEST_FILENAME|FILES',
    decoded: 2,
    pattern:
      raw`(?i)(?:${asId}|${braces}|${windows}|\$\(\s*[</{]|\|\s*\$(?:0\b|\{?shell\b)` +
      raw`|(?:^|/)(?:id|whoami|uname)[|&;](?:$|/)` +
      raw`|(?:[;|&\n\x60]|\$\()[\s'"]*(?:(?:${commands})|${programs}|/(?:usr/)?s?bin/\w)` +
      raw`|\b(?:powershell|pwsh)(?:\.exe)?\s+-\w` +
      raw`|(?:[;|&\n\x60]|\$\()[\s'"]*(?:cat|ls|nc|tac|head|tail|more|less|sh|zsh|perl|ruby|python\d?|php)` +
      raw`(?:[\s<]|\$\{?ifs\b)|\$\{?ifs\b` +
      raw`|\$\(\s*(?:${inside})(?:[\s|;&<>)]|$)|[<>]\(\s*(?:${inside})(?:[\s)]|$)` +
      raw`|(?:[;|\n\x60]\s*|&)(?:(?:sudo|xargs|busybox|nohup)\s+[\w/$-]|cmd(?:\.exe)?\s*(?:[;|&/]|$))` +
      raw`|\|\s*(?:(?:[bdkz]a?sh|sh)\s*(?:$|[/|;&>]|\.\w{1,5}(?:$|/))|(?:find|tee|dd|xxd|env)\s+[-/.~]))`,
  },
];

const rules: readonly EvidenceRule[] = [
  {
    id: 1_006_600,
    tag: 'OWASP_CRS/ATTACK-LFI',
    variables: `${values}|REQUEST_FILENAME`,
    pattern:
      raw`(?i)(?:etc.{1,24}(?:passwd|shadow|issue|hosts|group)(?:[^-]|-(?:[^a-z]|$)|$)` +
      raw`|win(?:dows|nt).{1,24}system32|(?:boot|win)\.ini` +
      raw`|web-inf[/\\]|global\.asa|inetpub[/\\]|(?:^|[/\\=])\.{4}[/\\]|\\\\[\w.:-]+\\+\w+\$|(?:/+\.){3}` +
      raw`|[/\\](?:\w{24,})?\.{6,}[a-z_{]|\.{2,}(?:etc(?:passwd|shadow|hosts)|web-infweb)|(?:0x2e){2})`,
  },
  {
    id: 1_006_601,
    tag: 'OWASP_CRS/ATTACK-SQLI',
    variables: `${values}|REQUEST_HEADERS:X-Forwarded-For`,
    pattern:
      raw`(?i)(?:\b(?:x?or|and|having|where)\b[^a-z0-9]{1,8}[\w.,'"()@\x60\[\]]{1,40}['"\x60)\s]{0,4}` +
      raw`(?:=|<|>|\blike\b|\bin\b)|\bselect\b.{1,120}\bfrom\b|\bselect\s+(?:@@|\w+_user\b)` +
      raw`|@@(?:version|\w*name|\w*version|\w+dir)\b` +
      raw`|['"\x60][\s)]{0,4}(?:(?:--|#)[\s-]*$|;\s*[a-z-])|\b(?:order|group)\s+by\s+\d+\s*(?:--|#|/\*|;|,)` +
      raw`|\)\s*\(\s*[|&]|\(\s*[|&]\s*\(|\*\s*\)\s*\(|:\d+(?:\.\d+)+:=` +
      raw`|\(\s*objectclass\s*=)`,
  },
  {
    id: 1_006_602,
    tag: 'OWASP_CRS/ATTACK-RCE',
    variables: 'ARGS|REQUEST_FILENAME',
    pattern:
      raw`(?i)(?:${asId}|[;|&\n\x60][\s+'"]*(?:${commands})` +
      raw`|^[\s'"]*(?:id|dir|uname|ping)(?:\.exe)?(?:\s*[;|&]|\s+(?:[-/]|[a-z]:))` +
      raw`|!!python/|\bvar[\s+]+\w+[\s+]*=[\s+]*new[\s+]|"&"\w+"&"` +
      raw`|(?:[\r\n]|%0[ad])\s*(?:set-cookie:|\w{1,5}[\s+](?:capability|fetch)\b))`,
  },
  {
    id: 1_006_603,
    tag: 'OWASP_CRS/ATTACK-XSS',
    variables: `${values}|REQUEST_FILENAME`,
    pattern:
      raw`(?i)(?:\b(?:alert|confirm|prompt|eval)[)\]]?(?:\?\.|\s*\.\s*(?:call|apply)|\x60|\()` +
      raw`|\bdocument\s*(?:\?\.|\[)|</(?:a|iframe|script|svg|body|html|title|style)>|<a\s+href|mhtml:)`,
  },
  ...rulesOfPaths,
];

/** Whether any site wants a second opinion, in whichever mode. */
export const wantsSecondOpinion = ({
  second_opinion,
  sites,
}: Pick<RuleSettings, 'second_opinion' | 'sites'>): boolean =>
  second_opinion !== 'off' || sites.some((site) => (site.second_opinion ?? 'off') !== 'off');

/** Rule text; '' where nobody wants it. */
export function renderSecondOpinion(settings: Pick<RuleSettings, 'second_opinion' | 'sites'>): string {
  if (!wantsSecondOpinion(settings)) return '';
  const text = rules.map(
    ({ id, tag, variables, pattern, decoded = 1 }) =>
      `SecRule ${variables} "@rx ${pattern.replaceAll('"', String.raw`\x22`)}" \\\n` +
      `    "id:${id},phase:2,pass,nolog,t:none${',t:urlDecodeUni'.repeat(decoded)},tag:'${tag}'"\n`,
  );
  return `# What the second opinion is told of besides the rules that score.\n${text.join('')}`;
}
