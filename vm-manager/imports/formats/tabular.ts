// CSV with a head line, and mapping profiles: any CSV or JSON whose fields an operator has named.
import { readCvss } from '../../findings/cvss.js';
import { unfit } from '../../kit/endpoint.js';
import { sources, type Source } from '../../findings/words.js';
import { cwesOf, list, num, pos, reportPath, str, texts, vulnIdsOf } from '../normalize.js';
import { fault, record, unread, type Item, type Location } from '../record.js';
import { columnOf, readHead, readRows } from '../reading/csv.js';
import { readBeginning, readJson, type ReportFile } from '../reading/report-file.js';
import { readXml, type Element } from '../reading/xml.js';
import { mappedSeverity, readSeverity } from '../severity/read.js';
import { foldWord, scaleOfColumns, type SeverityScale } from '../severity/words.js';
import type { Format } from './format.js';
import { dotted } from './web.js';

/** Our field → names that heads of CSV files give it. */
const aliases = {
  title: ['title', 'nvt_name', 'vulnerability_name', 'name', 'summary'],
  description: ['description', 'details'],
  severity: ['severity', 'risk', 'level', 'risk_level', 'severity_level', 'result_severity'],
  cwe: ['cwe', 'cwe_id', 'cwes'],
  cve: ['cve', 'cve_id', 'cve_ids', 'vuln_id', 'vulnerability_id', 'cves'],
  score: ['cvss', 'score', 'cvss_score'],
  vector: ['vector', 'cvss_vector'],
  path: ['file', 'path', 'file_path', 'file_name', 'filename', 'source_file', 'src_file_name', 'srcfilename'],
  line: ['line', 'line_number'],
  url: ['url', 'endpoint', 'affected_url', 'affected_endpoint', 'target_url', 'page_url', 'uri'],
  method: ['method'],
  param: ['param', 'parameter'],
  component: ['component', 'package', 'package_name', 'component_name', 'library', 'dependency', 'artifact'],
  version: ['version', 'installed_version'],
  fixed_version: ['fixed_version', 'fix_version'],
  references: ['references', 'link', 'links'],
  native_id: ['id', 'external_id'],
  rule_id: ['rule', 'rule_id', 'check_id'],
  source: ['source'],
  address: ['resource', 'address', 'resource_id', 'resource_name', 'resource_arn', 'instance_id'],
  status: ['status', 'state'],
  location: ['location', 'locations', 'affected_location'],
  host: [] as readonly string[], // by `hostColumn`
  port: ['port', 'port_number', 'service_port', 'dst_port'],
  protocol: ['protocol', 'proto', 'ip_protocol', 'port_protocol', 'transport'],
} as const;
/** Columns that name a machine, in what order they count, whoever has written them. */
const hostWords =
  'fqdn|dns|netbios|host|host_?name|ip|ip_?addr(?:ess)?|ipv4|ipv6|asset|target|server|machine|computer|device|' +
  'system|node';
const hostColumn = new RegExp(
  `^(?:affected_|target_|asset_|netbios_|source_|remote_|scanned_)?(?:${hostWords})(?:_?(?:name|address|ip|id))?$`,
);
export type MappedField = keyof typeof aliases;
export const mappedFields = Object.keys(aliases) as MappedField[];

export interface Mapping {
  readonly name: string;
  readonly format: 'json' | 'csv' | 'xml';
  readonly rows_path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly severity_map: Readonly<Record<string, string>>;
  readonly fingerprint_fields: readonly string[];
}

const isSource = (text: string): text is Source => (sources as readonly string[]).includes(text);

/** `host:port` by protocol, as Nmap's are; null: it is no name of a host. */
function hostPlace(host: string, port: string, protocol: string): Location | null {
  if (/^https?:\/\/\S+$/i.test(host)) return { kind: 'web', url: host };
  const isV6 = /^\[?[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:.]*\]?$/i.test(host);
  if (!isV6 && !/^[\w-]+(?:\.[\w-]+)*\.?(?::\d{1,5})?$/.test(host)) return null;
  const name = isV6 ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
  const scheme = /^[a-z][a-z\d]{0,9}$/i.test(protocol) ? protocol.toLowerCase() : 'tcp';
  return { kind: 'web', url: `${scheme}://${name}${/^[1-9]\d{0,4}$/.test(port) ? `:${port}` : ''}` };
}

/** A column that holds whatever the tool calls a place: a page, a file with its line, or a machine. */
function anyPlace(text: string): Location {
  if (/^https?:\/\//i.test(text)) return { kind: 'web', url: text };
  const [, path = '', line] = /^(.+?)(?::(\d{1,7}))?(?::\d{1,5})?$/.exec(text) ?? [];
  const isAddress = /^\[?(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:]*:[0-9a-f:.]*)\]?(?::\d+)?$/i.test(text);
  if (!isAddress && /[/\\.]/.test(path) && !/\s/.test(path))
    return { kind: 'code', path: reportPath(path), ...(line === undefined ? {} : { line: Number(line) }) };
  return hostPlace(text, '', '') ?? { kind: 'resource', address: text };
}

function locationOf(read: (field: MappedField) => unknown): Location {
  const cell = (field: MappedField): string => str(read(field)).trim();
  const url = str(read('url'));
  const component = str(read('component'));
  const address = str(read('address'));
  const line = pos(read('line'));
  if (component !== '')
    return { kind: 'package', name: component, version: str(read('version')), path: reportPath(read('path')) };
  if (url !== '')
    return {
      kind: 'web',
      url,
      method: str(read('method')).toUpperCase(),
      ...(str(read('param')) === '' ? {} : { param: str(read('param')) }),
    };
  if (address !== '') return { kind: 'resource', address };
  const path = reportPath(read('path'));
  if (path === '') {
    const [host, place] = [cell('host'), cell('location')];
    if (place !== '' && host === '') return anyPlace(place);
    if (host !== '') {
      const found = hostPlace(host, cell('port'), cell('protocol')) ?? { kind: 'resource', address: host };
      return place === '' || found.kind !== 'web' ? found : { ...found, matcher: place };
    }
  }
  return { kind: 'code', path: path || 'unknown', ...(line === undefined ? {} : { line }) };
}

/** What tells two rows of one file, page or package apart: the machine, and where on it. */
function machineOf(read: (field: MappedField) => unknown): string {
  const all = (['host', 'port', 'protocol', 'location'] as const).map((field) => str(read(field)).trim());
  return all.every((one) => one === '') ? '' : all.join(' ').trim();
}

const sourceOf: Readonly<Record<Location['kind'], Source>> = {
  code: 'sast',
  web: 'dast',
  package: 'sca',
  resource: 'iac',
  secret: 'secret',
};

/** What says that somebody has done with it; any other word leaves it open, as "verified" may mean: it is real. */
const doneWith = new Set(
  ['closed', 'done', 'fixed', 'resolved', 'mitigated', 'remediated', 'dismissed', 'duplicate'].concat(
    ['false positive', 'falsepositive', 'fp', 'not affected', 'accepted', 'risk accepted', 'wont fix', 'suppressed'],
    ['ignored', 'out of scope', 'inactive'],
  ),
);
const isDoneWith = (status: string): boolean =>
  doneWith.has(
    status
      .trim()
      .toLowerCase()
      .replace(/[\u2019']/g, '')
      .replace(/[\s_-]+/g, ' '),
  );

/** OpenVAS writes it in place of the severity where a person has overridden the result. */
const isFalsePositive = (value: unknown): boolean => foldWord(str(value)) === 'false positive';

function rowRecord(
  read: (field: MappedField) => unknown,
  at: string,
  severities: Readonly<Record<string, string>>,
  scale: SeverityScale | undefined,
  extra: Readonly<Record<string, unknown>>,
): Item {
  const title = str(read('title')).trim();
  if (title === '') return unread('has no title', at);
  const score = num(read('score'));
  const severity = mappedSeverity(read('severity'), severities);
  const isSetAside = isFalsePositive(severity);
  const cvss = readCvss(str(read('vector')) || null, score);
  const location = locationOf(read);
  const machine = machineOf(read);
  const given = str(read('source')).toLowerCase();
  const fixed = str(read('fixed_version'));
  const split = (value: unknown): string[] => texts(value).flatMap((text) => text.split(/[,;\s]+/));
  return record({
    title,
    description: str(read('description')),
    ...readSeverity(isSetAside ? undefined : severity, {
      score: cvss?.score ?? null,
      ...(scale === undefined ? {} : { scale }),
      ...(isSetAside ? { ifAbsent: 'info' as const } : {}),
    }),
    cwes: cwesOf(split(read('cwe')), true),
    vulnIds: vulnIdsOf(split(read('cve'))),
    cvss,
    source: isSource(given) ? given : sourceOf[location.kind],
    ruleId: str(read('rule_id')),
    nativeId: str(read('native_id')) || null,
    ...(machine === '' ? {} : { apart: machine }),
    location,
    fix: { state: fixed === '' ? 'unknown' : 'fixed_available', ...(fixed === '' ? {} : { version: fixed }) },
    references: split(read('references')),
    suppressed: isSetAside || isDoneWith(str(read('status'))),
    extra,
  });
}

/**
 * Throws ApiError 422 where the head line has none of the names of a column that every row needs: any text has a first
 * line, and one of another kind would pass for a report without findings.
 */
async function requireColumns(file: ReportFile, columns: readonly (readonly string[])[]): Promise<void> {
  const cells = new Set(readHead(await readBeginning(file)).columns);
  const missing = columns.find((names) => names.every((name) => !cells.has(columnOf(name))));
  if (missing !== undefined)
    throw unfit('file', `has no column ${missing.join(' or ')} in its head line`, 'it may be of another format');
}

/** Whoever has both means the machine by its name or address, and by the asset what it belongs to. */
const byRank = (columns: readonly string[]): readonly string[] => {
  const rank = (name: string): number => (/asset|target|system|device|node/.test(name) ? 1 : 0);
  return [...columns].sort((left, right) => rank(left) - rank(right));
};

/** Fields by which rows of one finding are known to be the same: what they say is in its keys. */
const placeFields = [
  'title',
  'path',
  'line',
  'url',
  'method',
  'param',
  'component',
  'version',
  'native_id',
  'rule_id',
].concat(['address', 'location', 'host', 'port', 'protocol']) as readonly MappedField[];
/** How grave a finding is and what became of it: of two rows that differ in nothing else the gravest counts. */
const judged = [...aliases.severity, ...aliases.score, ...aliases.vector, ...aliases.status];
/** Differ from one export to the next, or from one row of the same finding to the next. */
const volatile = new RegExp(
  'date|time|seen|(?:^|_)age|updated|created|modified|count|duration|progress|score|epss|' +
    '(?:^|_)(?:no|number|row|index)$',
);
const restMax = 2000;

/** What a row says beside the place and the judgement: rows that differ in it are two findings. */
const restOf = (row: Readonly<Record<string, string>>, told: ReadonlySet<string>): string => {
  let rest = '';
  for (const [name, cell] of Object.entries(row))
    if (cell !== '' && !told.has(name) && !volatile.test(name)) rest += `${name}=${cell};`;
  return rest.slice(0, restMax);
};

/** What a table without a row shows: nothing was looked at, or nothing was found. */
const noRow = fault('the table has a head line and no row: nothing shows that something was looked at');

export const csv: Format = {
  name: 'csv',
  label: 'CSV with a head line',
  detection: 'a head line with title, name or summary, and severity, risk or level',
  detect: (beginning) => {
    const head: readonly string[] = readHead(beginning).columns;
    return aliases.title.some((name) => head.includes(name)) && aliases.severity.some((name) => head.includes(name));
  },
  async *read(file, facts) {
    facts.tool = 'CSV';
    await requireColumns(file, [aliases.title]);
    const known = new Set<string>(Object.values(aliases).flat());
    const { columns } = readHead(await readBeginning(file));
    const hosts = columns.filter((name) => hostColumn.test(name));
    const scale = scaleOfColumns(columns);
    const named: Readonly<Record<MappedField, readonly string[]>> = { ...aliases, host: byRank(hosts) };
    const told = new Set<string>([...placeFields.flatMap((field) => named[field]), ...judged]);
    let isEmpty = true;
    for await (const [number, row] of readRows(file)) {
      const read = (field: MappedField): unknown =>
        named[field].map((name) => row[name]).find((cell) => cell !== undefined && cell !== '');
      const extra = Object.fromEntries(
        Object.entries(row)
          .filter(([name, cell]) => !known.has(name) && cell !== '')
          .slice(0, 50),
      );
      const made = rowRecord(read, `line ${number}`, {}, scale, extra);
      isEmpty = false;
      yield 'dropped' in made ? made : { ...made, rest: restOf(row, told) };
    }
    facts.complete = true;
    if (isEmpty) yield noRow;
  },
};

/** `results/error`, or `error` anywhere; a path that begins with a slash begins at the top. */
function isAt(names: readonly string[], path: string): boolean {
  const wanted = path.split('/').filter(Boolean);
  if (path.startsWith('/') && wanted.length !== names.length) return false;
  return wanted.every((name, index) => names[names.length - wanted.length + index] === name);
}

/** Attributes as `@name`, children as `name` (of repeated ones the first), the own text as `#text`. */
function xmlRow(element: Element): unknown {
  const made: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(element.attributes)) made[`@${name}`] = value;
  const text = element.text.trim();
  if (text !== '') made['#text'] = text;
  for (const child of element.children) {
    made[child.name] ??= xmlRow(child);
  }
  return element.children.length === 0 && Object.keys(element.attributes).length === 0 ? text : made;
}

/**
 * Rows of XML. Without one the element around them has to be there: another document (a page of an error, another
 * report) is no report without findings. Throws ApiError 422, or says what is there, with what to fix.
 */
async function* xmlRows(
  file: ReportFile,
  path: string,
  make: (row: unknown, at: string) => Item,
): AsyncGenerator<Item> {
  const names = path.split('/').filter(Boolean);
  const [name = '', around] = [names.at(-1), names.at(-2)];
  const aroundPath = path.replace(/\/?[^/]*$/, '');
  let number = 0;
  let hasAround = false;
  let root = '';
  const isOuter = around === name ? [] : around === undefined ? [] : [around];
  for await (const [element, above] of readXml(file, (tag) => tag === name || tag === around, isOuter)) {
    root = (above[0] ?? element).name;
    const here = [...above.map((one) => one.name), element.name];
    if (isAt(here, path)) yield make(xmlRow(element), `${name} ${++number}`);
    else hasAround ||= around !== undefined && isAt(here, aroundPath);
  }
  if (number > 0 || hasAround) return;
  root ||= await rootOf(file);
  const found = `has no element at ${path}: it begins with <${root}>`;
  if (around !== undefined)
    throw unfit('file', found, 'fix rows_path of the mapping, or send the report that it is for');
  yield unread(`${found}; with the element around it in rows_path (list/${name}) an empty report is known`, root);
}

/** The name of the first element. */
async function rootOf(file: ReportFile): Promise<string> {
  const beginning = await readBeginning(file);
  return /<([A-Za-z_][\w.:-]{0,100})[\s/>]/.exec(beginning.replace(/<!--[^]*?-->/g, ''))?.[1] ?? 'nothing';
}

/** Why no report can have rows there; null: it can. XML names the element of a row, the others go by members. */
export function rowsPathProblem(format: string, path: string): string | null {
  if (format === 'csv') return path === '' ? null : 'means nothing in CSV: leave it out';
  if (format === 'json') {
    if (path === '') return null;
    const parts = path.replace(/^\$\.?/, '').split('.');
    if (/[/[\]*\s]/.test(path)) return 'has members separated by dots, such as report.results; no JSON pointer, no [*]';
    return path.startsWith('$') || parts.some((part) => part === '')
      ? 'has an empty part; write members separated by dots, such as report.results'
      : null;
  }
  if (path.trim() === '') return 'is missing: XML needs the element that is one finding, such as results/error';
  if (/\./.test(path) && !path.includes('/'))
    return 'has dots: in XML, elements are separated by slashes, such as results/error (/a.b is one element)';
  return /^\/?[A-Za-z_][\w.:-]*(?:\/[A-Za-z_][\w.:-]*)*$/.test(path)
    ? null
    : 'has to be names of elements separated by slashes, such as results/error';
}

/** Why nothing can be found there in a row of XML; null: it can. Members of JSON and columns have any name. */
export const fieldPathProblem = (format: string, path: string): string | null =>
  format !== 'xml' || /^(?:[A-Za-z_][\w:-]*\.)*(?:@?[A-Za-z_][\w:-]*|#text)$/.test(path)
    ? null
    : 'has to be names of elements separated by dots, perhaps an attribute or the text at the end: place.@file';

/** Of an element that has elements or attributes beside its text, the text. */
const textOfElement = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && '#text' in value ? value['#text'] : value;

/** A format made of a profile that somebody has written. */
export const mappedFormat = (mapping: Mapping): Format => ({
  name: `mapping:${mapping.name}`,
  label: mapping.name,
  detection: 'named by the request',
  detect: () => false,
  async *read(file, facts) {
    facts.tool = mapping.name;
    const make = (row: unknown, at: string): Item => {
      const value = (field: string): unknown => {
        const path = mapping.fields[field];
        if (path === undefined) return undefined;
        return mapping.format === 'csv'
          ? (row as Record<string, string>)[columnOf(path)]
          : textOfElement(dotted(row, path));
      };
      const made = rowRecord(value, at, mapping.severity_map, undefined, {});
      if ('dropped' in made || mapping.fingerprint_fields.length === 0) return made;
      return {
        ...made,
        nativeId: mapping.fingerprint_fields.map((field) => `${field}=${str(value(field))}`).join('|'),
      };
    };
    if (mapping.format === 'csv') {
      await requireColumns(file, mapping.fields['title'] === undefined ? [] : [[mapping.fields['title']]]);
      let isEmpty = true;
      for await (const [number, row] of readRows(file)) {
        isEmpty = false;
        yield make(row, `line ${number}`);
      }
      if (isEmpty) yield noRow;
      return;
    }
    if (mapping.format === 'xml') {
      yield* xmlRows(file, mapping.rows_path, make);
      return;
    }
    const rows = dotted(await readJson(file), mapping.rows_path);
    if (!Array.isArray(rows))
      throw unfit('file', `has no list at ${mapping.rows_path || 'its top'}`, 'fix rows_path of the mapping');
    for (const [index, row] of list(rows).entries()) yield make(row, `/${index}`);
  },
});
