// Rule → CWE of tools that do not write the weakness into their reports: look-ups in the tables.
import type { FindingRecord } from '../record.js';
import { analyzerOf } from './analyzer.js';
import { linterTables } from './linter-weaknesses.js';
import { scannerTables, type WeaknessTable } from './weakness-tables.js';

/** By the name of the tool's profile, else of the tool. */
export const weaknessTables: Readonly<Record<string, WeaknessTable>> = { ...scannerTables, ...linterTables };

const aliases: Readonly<Record<string, string>> = { 'Find Security Bugs': 'SpotBugs', FindSecBugs: 'SpotBugs' };

/** Classes of misconfigurations, by the words of a check's title; the first that fits counts. */
export const topics: readonly (readonly [words: RegExp, cwe: number])[] = [
  [/hard[- ]?coded|secret|password|credential|api key|access key/i, 798],
  [/privileged|root user|run as root|as root|capabilit|privilege escalation|sudo/i, 250],
  [/host ?(?:pid|ipc|network|path|port)|docker\.?sock/i, 653],
  [/wildcard|\*:\*|full admin|administrat|iam polic|assume ?role|cluster-admin/i, 269],
  [/public(?:ly)?|0\.0\.0\.0|::\/0|any source|open to|ingress/i, 284],
  [/anonymous|without auth|authentication|mfa/i, 306],
  [/authorization|rbac|service account/i, 862],
  [/in transit|https|tls|ssl|plain ?text|secure transport/i, 319],
  [/encrypt|kms|cmk/i, 311],
  [/rotat/i, 324],
  [/logging|audit|monitoring|flow log|trail/i, 778],
  [/(?:cpu|memory|resource) (?:limit|request|quota)/i, 770],
  [/latest tag|image tag|digest|unpinned|pinned|checksum/i, 829],
  [/read[- ]?only|permission|writable/i, 732],
];
/** Categories of Wapiti, which are its rules. */
const wapitiTopics: readonly (readonly [words: RegExp, cwe: number])[] = [
  [/sql injection/i, 89],
  [/cross site scripting|\bxss\b/i, 79],
  [/command execution|log4shell|shellshock|spring4shell/i, 78],
  [/path traversal|file (?:handling|inclusion)/i, 22],
  [/xml external|xxe/i, 611],
  [/server side request|ssrf/i, 918],
  [/cross site request|csrf/i, 352],
  [/open redirect/i, 601],
  [/crlf/i, 93],
  [/ldap/i, 90],
  [/htaccess|weak credentials/i, 287],
  [/secure flag/i, 614],
  [/httponly/i, 1004],
  [/clickjacking|x-frame/i, 1021],
  [/content security policy|security header|mime type/i, 693],
  [/strict transport|cleartext|unencrypted/i, 319],
  [/backup file|information disclosure|source code disclosure/i, 200],
  [/unrestricted.*upload/i, 434],
  [/template injection/i, 1336],
];
const configurationTools =
  /^(?:checkov|trivy|kics|tfsec|terrascan|kubescape|kube-?linter|kube-?score|snyk iac|dockle|prowler)/i;

interface Rules {
  readonly exact: ReadonlyMap<string, number>;
  readonly beginnings: readonly (readonly [string, number])[];
}
const readTable = (table: WeaknessTable): Rules => {
  const all = Object.entries(table).flatMap(([cwe, rules]) =>
    rules.split(/\s+/).map((rule) => [rule, Number(cwe)] as const),
  );
  return {
    exact: new Map(all.filter(([rule]) => !rule.endsWith('*'))),
    beginnings: all.filter(([rule]) => rule.endsWith('*')).map(([rule, cwe]) => [rule.slice(0, -1), cwe]),
  };
};
const tables = new Map(Object.entries(weaknessTables).map(([tool, table]) => [tool.toLowerCase(), readTable(table)]));

const lookUp = ({ exact, beginnings }: Rules, rule: string): number | undefined =>
  exact.get(rule) ?? beginnings.find(([beginning]) => rule.startsWith(beginning))?.[1];

const tableOf = (name: string): Rules | undefined =>
  tables.get(name.toLowerCase()) ?? tables.get(name.split(/[ (]/)[0]?.toLowerCase() ?? '');

type Described = Pick<FindingRecord, 'ruleId' | 'title' | 'tags' | 'description'>;

/** The linter within golangci-lint is the rule, and the rule of that begins the text: `G404: Use of weak …`. */
const innerRule = ({ title, description }: Described): string =>
  (/^\s*(G\d{3})\b/.exec(title) ?? /^\s*(G\d{3})\b/.exec(description))?.[1] ?? '';

/** One rule of the Clang analyzer tells of leaks, double frees and uses of what is freed: its text says which. */
const ofAllocation =
  /^(?:unix\.(?:Malloc|DynamicMemoryModeling)|cplusplus\.NewDelete|alpha\.unix\.MallocWithAnnotations)$/;
const saidOfAllocation: readonly (readonly [words: RegExp, cwe: number])[] = [
  [/\bleak/i, 401],
  [/\bdouble[- ](?:free|delete)|(?:attempt to (?:free|delete)|free of) (?:released|freed|already)/i, 415],
  [/should have been allocated|allocated by|mismatch/i, 762],
  [/not (?:memory )?allocated by|non-?owned|bad free|is the address of/i, 590],
];

/** The weakness of a rule; empty: the tables say nothing of it. */
export function weaknessesOf(
  tool: string,
  of: Described,
  { profile, rule: ruleId } = analyzerOf(tool, of.ruleId),
): readonly number[] {
  const { title, tags } = of;
  const name = aliases[profile?.name ?? tool] ?? profile?.name ?? tool;
  const spelled = profile?.spelled?.(ruleId) ?? ruleId;
  if (ofAllocation.test(spelled)) {
    const text = `${title}\n${of.description}`;
    const said = saidOfAllocation.find(([words]) => words.test(text));
    if (said !== undefined) return [said[1]];
  }
  const isBandit = /^(?:Ruff|Flake8)$/.test(name) && /^S\d{3}$/.test(ruleId);
  const all = isBandit
    ? [tables.get('bandit')]
    : [tableOf(name), profile?.rulesOf === undefined ? undefined : tableOf(profile.rulesOf)];
  const names = [
    ...(isBandit ? [`B${ruleId.slice(1)}`] : [ruleId, spelled]),
    ...(name === 'golangci-lint' ? [innerRule(of)] : []),
    ...(name === 'ESLint' || profile?.rulesOf === 'ESLint' ? [spelled.split('/').at(-1) ?? ''] : []),
    // Brakeman: CheckSQL/SQL Injection; ZAP: 40012-1; Sobelow: SQL.Query: …
    spelled.split('/')[0] ?? '',
    spelled.split('-')[0] ?? '',
    title.split(/[/:]/)[0] ?? '',
    ...tags,
  ];
  for (const rules of all) {
    const cwe =
      rules === undefined ? undefined : names.map((rule) => lookUp(rules, rule)).find((one) => one !== undefined);
    if (cwe !== undefined) return [cwe];
  }
  const isWapiti = /^wapiti$/i.test(name);
  if (!isWapiti && !configurationTools.test(name)) return [];
  const topic = (isWapiti ? wapitiTopics : topics).find(([words]) => words.test(title));
  return topic === undefined ? [] : [topic[1]];
}
