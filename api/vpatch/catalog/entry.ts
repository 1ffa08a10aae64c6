// What an entry of the catalogue says, and how its parts become rule text. Entries are data: facts about a published
// vulnerability (where, which parameter, which shape), a rule of our own, and requests that prove the rule.

export interface CatalogTest {
  readonly name: string;
  readonly expect: 'match' | 'no_match';
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export type PatchSeverity = 'critical' | 'high' | 'medium';

export interface CatalogPatch {
  /** 1007001 to 1007999; never reused for another vulnerability. */
  readonly id: number;
  readonly cve: string;
  readonly title: string;
  readonly product: string;
  /** In short, for people who wonder whether it is theirs. */
  readonly affected: string;
  readonly cwe: string;
  /** MITRE ATT&CK technique. */
  readonly technique: string;
  readonly severity: PatchSeverity;
  readonly seclang: string;
  readonly tests: readonly CatalogTest[];
}

/** Variables, operator with its argument, transformations. All links of a patch have to hold. */
export type PatchLink = readonly [variables: string, operator: string, transformations?: string];
/** Name, `METHOD target`, headers, body. */
export type PatchSample = readonly [
  name: string,
  line: string,
  headers?: Readonly<Record<string, string>>,
  body?: string,
];

export interface PatchFacts extends Omit<CatalogPatch, 'seclang' | 'tests' | 'technique'> {
  /** Exploit Public-Facing Application when left out. */
  readonly technique?: string;
  /** 1 when head and query suffice, else 2. */
  readonly phase: 1 | 2;
  readonly links: readonly PatchLink[];
  readonly attack: readonly PatchSample[];
  readonly benign: readonly PatchSample[];
}

/** A path as the application may understand it: its readings, decoded, dots and slashes resolved, in lower case. */
export const asPath = 'urlDecodeUni,normalizePathWin,lowercase';
/** A target before dots are resolved: for traversals. */
export const asSent = 'urlDecodeUni,urlDecodeUni,lowercase';

/** Headers of samples. */
export const json = { 'Content-Type': 'application/json' };
export const xml = { 'Content-Type': 'text/xml' };

const severities = { critical: 'CRITICAL', high: 'ERROR', medium: 'WARNING' } as const;

function transform(names: string | undefined): string {
  return ['none', ...(names ?? '').split(',').filter((name) => name !== '')].map((name) => `t:${name}`).join(',');
}

/** A condition by the path holds for every spelling of it that some server takes for it. */
const everyReading = (variables: string, transformations: string | undefined): string =>
  transformations === asPath && variables.split('|').includes('REQUEST_FILENAME')
    ? `${variables}|PATH_READINGS:path`
    : variables;

/** The rule of a patch: a chain that denies with 403 when all of its links hold. */
function renderPatch({ id, cve, title, cwe, severity, phase, links }: PatchFacts): string {
  const head = [`id:${id}`, `phase:${phase}`, 'deny', 'status:403', 'log', 'auditlog'];
  const meta = [
    `msg:'Virtual patch ${cve}: ${title}'`,
    `tag:'gatehouse/virtual-patch'`,
    `tag:'${cve}'`,
    `tag:'${cwe}'`,
    `severity:${severities[severity]}`,
  ];
  return links
    .map(([variables, operator, transformations], index) => {
      const own = index === 0 ? [...head, transform(transformations), ...meta] : [transform(transformations)];
      const actions = [...own, ...(index < links.length - 1 ? ['chain'] : [])].join(',');
      const indent = index === 0 ? '' : '    ';
      const looksAt = everyReading(variables, transformations);
      return `${indent}SecRule ${looksAt} "${operator}" \\\n${indent}    "${actions}"\n`;
    })
    .join('');
}

function toTest([name, line, headers = {}, body = '']: PatchSample, expect: CatalogTest['expect']): CatalogTest {
  const blank = line.indexOf(' ');
  return {
    name,
    expect,
    method: line.slice(0, blank),
    uri: line.slice(blank + 1),
    headers: Object.entries(headers),
    body,
  };
}

/** An entry from its facts. */
export function definePatch(facts: PatchFacts): CatalogPatch {
  const { id, cve, title, product, affected, cwe, technique = 'T1190', severity, attack, benign } = facts;
  return {
    id,
    cve,
    title,
    product,
    affected,
    cwe,
    technique,
    severity,
    seclang: renderPatch(facts),
    tests: [...attack.map((one) => toTest(one, 'match')), ...benign.map((one) => toTest(one, 'no_match'))],
  };
}
