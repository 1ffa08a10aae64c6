// What differs between the generations of the OWASP CRS, and nothing about it anywhere else. The settings, the set-up
// and the categories are written for version 4; a generation says what makes its own rules behave as those expect.
//
// 3.3 is what Debian and Ubuntu carry (tried with 3.3.4, 3.3.5 and 3.3.7). Compared with version 4
//   - its rules carry no tag of their category (`OWASP_CRS/ATTACK-SQLI`): they get it by the thousand of their id, so
//     that switches, exclusions by tag, counts and records are those of version 4;
//   - TX variables of the set-up and of the inbound scores have other names: whatever Gatehouse or a user writes with
//     the names of version 4 is translated, and the scores are there under both;
//   - it cannot block in phases 1 and 3: rules of our own do that where `early_blocking` asks for it;
//   - it has no rules for Ruby's error pages and for web shells: those two tags are empty;
//   - some of its patterns need backtracking: `patches` below says what becomes of each;
//   - its reputation rules (910) ask name servers and a geographic database and do nothing unless set up: left out.
// Lines stay where they are, so that positions in messages and logs are those of the files.
import type { RuleSettings, SitePolicy } from '#settings';
import type { SourceText } from '../text/source.js';
import { policyCondition } from './site-policies.js';

export interface Generation {
  /** `4`, or `3.3`: the beginning of the versions that belong to it. */
  readonly name: string;
  /** Tags of categories for which it has no rules. */
  readonly lacks: ReadonlySet<string>;
  /** A rule file as Gatehouse runs it; null: it is left out. */
  adapt(source: SourceText): SourceText | null;
  /** Text written with the TX names of version 4, with those of this generation. */
  translate(text: string): string;
  /** Rule text for behind the rules: '' or what this generation does not do by itself. */
  conclude(settings: RuleSettings, policies: readonly SitePolicy[]): string;
}

const version4: Generation = {
  name: '4',
  lacks: new Set(),
  adapt: (source) => source,
  translate: (text) => text,
  conclude: () => '',
};

/** Thousands of the ids of 3.3 → the category's tag in version 4. */
const tagOfThousand: Readonly<Record<string, string>> = {
  911: 'METHOD-ENFORCEMENT',
  913: 'SCANNER-DETECTION',
  920: 'PROTOCOL-ENFORCEMENT',
  921: 'PROTOCOL-ATTACK',
  922: 'MULTIPART-ATTACK',
  930: 'ATTACK-LFI',
  931: 'ATTACK-RFI',
  932: 'ATTACK-RCE',
  933: 'ATTACK-PHP',
  934: 'ATTACK-GENERIC',
  941: 'ATTACK-XSS',
  942: 'ATTACK-SQLI',
  943: 'ATTACK-SESSION-FIXATION',
  944: 'ATTACK-JAVA',
  950: 'DATA-LEAKAGES',
  951: 'DATA-LEAKAGES-SQL',
  952: 'DATA-LEAKAGES-JAVA',
  953: 'DATA-LEAKAGES-PHP',
  954: 'DATA-LEAKAGES-IIS',
};

/** TX names of version 4 → those of 3.3. */
const namesOf33: Readonly<Record<string, string>> = {
  blocking_paranoia_level: 'paranoia_level',
  detection_paranoia_level: 'executing_paranoia_level',
  restricted_headers_basic: 'restricted_headers',
  ...Object.fromEntries([1, 2, 3, 4].map((level) => [`inbound_anomaly_score_pl${level}`, `anomaly_score_pl${level}`])),
};
// not inside `outbound_anomaly_score_pl1`, which both have: the name begins behind `tx.` or `TX:`
const renamed = new RegExp(`(\\btx[.:])(${Object.keys(namesOf33).join('|')})\\b`, 'gi');

type Patch = (directive: string) => string;

/**
 * 920120: a semicolon that no character reference ends in, looked for with a look-behind. The same as a whole value
 * made of anything else and of whole references, negated.
 */
const withoutLookBehind: Patch = (directive) =>
  directive.replace(
    /"@rx \(\?<!((?:[^()]|\((?:[^()])*\))*)\);\|\[([^\]]*)\]"/,
    (_, references: string, others: string) => `"!@rx ^(?:[^;${others}]|(?:${references});)*$"`,
  );

/**
 * 920600, 922110: `\s*+` before a class that has blanks is a class whose first member is none; before anything else it
 * is `\s*`. The class behind it that excludes `c` begins a parameter's name, which must not begin with a blank either.
 */
const withoutPossessiveBlanks: Patch = (directive) =>
  directive
    .replace(/\\s\*\+\[\^((?:\\.|[^\]\\])+)\]\+/g, '\\s*[^\\s$1][^$1]*')
    .replaceAll('[^c\\"', '[^c\\s\\"')
    .replaceAll('\\s*+', '\\s*');

/**
 * 942260: what may stand behind the run begins with what the run cannot hold, or holds the quotes that it gives back.
 */
const withoutPossessiveRun: Patch = (directive) => directive.replace(']++', ']+');

/**
 * 942130 compares two words by a back-reference. Here a first rule finds the first comparison of a value and a second
 * link compares its words, for equality and (as a chain of its own, 942131) for inequality, as version 4 does: of
 * several comparisons in one value only the first counts.
 */
const withoutBackReference: Patch = (directive) => {
  const [, targets, actions] = /^SecRule (\S+) "@rx [^]*?" \\\n([^]*)$/.exec(directive) ?? [];
  if (targets === undefined || actions === undefined || !directive.includes('\\1')) return directive;
  const joined = actions
    .trim()
    .replace(/^"|"$/g, '')
    .replace(/\\\n\s*/g, '');
  const [, head = joined, sets = ''] = /^([^]*?),(setvar:[^]*)$/.exec(joined) ?? [];
  const gap = '[\\s\'\\"`()]*?';
  const pair = (operators: string, id: number, comparison: string): string =>
    `SecRule ${targets} "@rx (?i)\\b(\\w+)\\b${gap}(?:${operators})${gap}\\b(\\w+)\\b" ` +
    `"${head.replace('id:942130', `id:${id}`).replace('t:replaceComments', 't:replaceComments,t:lowercase')},chain"\n` +
    `SecRule TX:1 "${comparison} %{TX.2}" "t:none,${sets}"`;
  return [
    pair('(?:sounds\\s+)?like|r(?:egexp|like)|<=>|=', 942_130, '@streq'),
    pair('not\\s+(?:regexp|like)|is\\s+not|<>|[<>]=?|!=|\\^', 942_131, '!@streq'),
  ].join('\n');
};

/** By the id of the rule, or of the head of its chain. A rule that is written in another way is left as it is. */
const patches: Readonly<Record<number, Patch>> = {
  920120: withoutLookBehind,
  920600: withoutPossessiveBlanks,
  922110: withoutPossessiveBlanks,
  942130: withoutBackReference,
  942260: withoutPossessiveRun,
};

/** Patches one directive and its chain; its lines are as many as before. */
function patched(directive: string): string {
  const id = /\bid:'?(\d+)/.exec(directive)?.[1] ?? '';
  const changed = patches[Number(id)]?.(directive) ?? directive;
  const lines = (text: string): number => text.split('\n').length;
  const padded = changed + '\n'.repeat(Math.max(0, lines(directive) - lines(changed)));
  const tag = tagOfThousand[id.slice(0, 3)];
  return tag === undefined ? padded : padded.replaceAll(/\btag:'OWASP_CRS'/g, `tag:'OWASP_CRS',tag:'OWASP_CRS/${tag}'`);
}

/** A directive, the lines that continue it, and what is indented below it: the links of its chain. */
const directives = /^Sec(?:Rule|Action)\b(?:[^\n]*\\\n)*[^\n]*(?:\n[ \t]+Sec(?:Rule|Action)\b(?:[^\n]*\\\n)*[^\n]*)*/gm;

const sumOf = (levels: readonly number[], total: string, part: string): string =>
  [`setvar:'tx.${total}=0'`, ...levels.map((level) => `setvar:'tx.${total}=+%{tx.${part}${level}}'`)].join(',');

/**
 * What version 4's rules 949111 and 959101 do at the ends of phases 1 and 3, under their ids. `condition` holds where
 * that is to happen, null: everywhere; elsewhere there is no sum that could reach a threshold.
 */
function blockEarly(levels: readonly number[], condition: string | null): string {
  const block = (id: number, phase: number, total: string, part: string, threshold: string, what: string): string =>
    `${condition ?? 'SecAction'} \\\n` +
    `    "id:${id + 39},phase:${phase},pass,nolog,t:none,${sumOf(levels, total, part)}"\n` +
    `SecRule TX:${total} "@ge %{tx.${threshold}_anomaly_score_threshold}" \\\n` +
    `    "id:${id},phase:${phase},deny,t:none,log,severity:CRITICAL,tag:'anomaly-evaluation',` +
    `msg:'${what} Anomaly Score Exceeded in phase ${phase} (Total Score: %{tx.${total}})'"\n`;
  return (
    block(949_111, 1, 'early_inbound_score', 'anomaly_score_pl', 'inbound', 'Inbound') +
    block(959_101, 3, 'early_outbound_score', 'outbound_anomaly_score_pl', 'outbound', 'Outbound')
  );
}

const version33: Generation = {
  name: '3.3',
  lacks: new Set(['OWASP_CRS/WEB-SHELLS', 'OWASP_CRS/DATA-LEAKAGES-RUBY']),
  adapt: (source) =>
    source.path.endsWith('REQUEST-910-IP-REPUTATION.conf')
      ? null
      : { ...source, text: source.text.replace(directives, patched) },
  translate: (text) =>
    text.replace(renamed, (_, where: string, name: string) => `${where}${namesOf33[name.toLowerCase()]}`),
  conclude(settings, policies) {
    const wanting: readonly Pick<SitePolicy, 'paranoia_level' | 'early_blocking'>[] =
      policies.length === 0 ? [settings] : policies;
    // Levels that a policy does not have score nothing.
    const levels = [1, 2, 3, 4].slice(0, Math.max(...wanting.map((one) => one.paranoia_level)));
    const early = policies.filter((one) => one.early_blocking).map(({ key }) => key);
    const isEarly = wanting.some((one) => one.early_blocking);
    const condition = early.length === policies.length ? null : policyCondition(early);
    return `# The scores under the names of version 4, which records and explanations go by.
SecAction "id:980900,phase:5,pass,nolog,t:none,${sumOf(levels, 'blocking_inbound_anomaly_score', 'anomaly_score_pl')},\
${sumOf(levels, 'blocking_outbound_anomaly_score', 'outbound_anomaly_score_pl')}"
${isEarly ? blockEarly(levels, condition) : ''}`;
  },
};

const generations: readonly Generation[] = [version4, version33];

/** What `generationOf` takes, for messages. */
export const supportedVersions = 'OWASP CRS 4.x or 3.3.x';

/** The generation of a version such as `4.25.1`; null: none that the settings support. */
export function generationOf(version: string): Generation | null {
  return generations.find(({ name }) => version.startsWith(`${name}.`)) ?? null;
}

/** Which score a TX variable of either generation counts, of one paranoia level; null: none. */
export function scoreCountedBy(name: string): 'inbound' | 'outbound' | null {
  const found = /^(inbound_|outbound_)?anomaly_score_pl\d$/i.exec(name);
  return found === null ? null : found[1]?.toLowerCase() === 'outbound_' ? 'outbound' : 'inbound';
}
