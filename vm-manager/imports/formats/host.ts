// Reports of tools that look at the settings of a host from within: Lynis (the report file of `lynis audit system`).
import { unfit } from '../../kit/endpoint.js';
import { readBeginning, readLines, type ReportFile } from '../reading/report-file.js';
import { noFinding, record, unread, type Item, type ReportFacts } from '../record.js';
import { machineOf } from '../run/subject.js';
import type { Format } from './format.js';

const isReport = (beginning: string): boolean => /^# Lynis Report\s*$/m.test(beginning);
const severities = { warning: 'medium', suggestion: 'low' } as const;
type Kind = keyof typeof severities;
const isKind = (name: string): name is Kind => Object.hasOwn(severities, name);

/** Name, whether it is one of a list (`name[]=`), and value of a line; null: the line is a comment or no setting. */
function readSetting(
  line: string,
): { readonly name: string; readonly isOfList: boolean; readonly value: string } | null {
  const found = /^\s*([^\s#=[\]]+)(\[\])?=(.*)$/.exec(line);
  return found === null
    ? null
    : { name: found[1] ?? '', isOfList: found[2] !== undefined, value: (found[3] ?? '').trim() };
}

/** What one reading of the report tells of its lines in the next. */
interface Said {
  readonly host: string;
  /** Lines of `details[]`, by test: which settings differ, and from what. */
  readonly details: ReadonlyMap<string, readonly string[]>;
  /** The test that has found packages with known holes; their lines do not name it. */
  readonly packageTest: string;
}

/** Of one test; more says nothing that these do not. */
const detailsMax = 200;
/** What a run tells beside its results; the other lists are facts of the host. */
const asides: Readonly<Record<string, string>> = {
  manual: 'is to be looked at by a person: no test',
  manual_event: 'is to be looked at by a person: no result',
  exception_event: 'is a fault of the run, no result',
};

/** `ID|kind|desc:…;field:…;prefval:…;value:…;|`, with `text` or others in the place of the pairs. */
function readDetail(value: string): readonly [string, string] {
  const [id = '', , ...rest] = value.replace(/\|$/, '').split('|');
  const pairs = rest
    .join('|')
    .split(';')
    .map((pair) => pair.trim())
    .filter(Boolean);
  return [id.trim(), pairs.join(', ')];
}

/** A dash stands for nothing. */
const given = (text: string | undefined): string => (text === undefined || text.trim() === '-' ? '' : text.trim());

/**
 * The settings that say which host it is and what was looked at. A run that was stopped writes no
 * `report_datetime_end`, and one of a single category or group skipped the tests of all others without naming them:
 * neither proves that anything is gone. Otherwise `tests_executed` names the tests that ran; the others prove nothing.
 */
async function readFacts(file: ReportFile, facts: ReportFacts): Promise<Said> {
  const said = new Map<string, string>();
  const details = new Map<string, string[]>();
  let packageTest = 'PKGS-7392';
  for await (const [, line] of readLines(file)) {
    const setting = readSetting(line);
    if (setting === null) continue;
    const { name, isOfList, value } = setting;
    if (!isOfList) said.set(name, value);
    if (isOfList && name === 'details') {
      const [id, text] = readDetail(value);
      const known = details.get(id) ?? [];
      if (text !== '' && known.length < detailsMax) details.set(id, [...known, text]);
    }
    if (isOfList && name === 'warning') packageTest = /^(PKGS-\d+)\|.*vulnerable/i.exec(value)?.[1] ?? packageTest;
  }
  const isWhole = (name: string): boolean => ['', 'all'].includes(said.get(name) ?? '');
  facts.tool = 'Lynis';
  facts.version = said.get('lynis_version') ?? '';
  facts.subject = machineOf(given(said.get('hostname')));
  const hasEnded = given(said.get('report_datetime_end')) !== '';
  facts.isPartial = hasEnded;
  facts.complete = hasEnded && isWhole('test_category') && isWhole('test_group');
  const ran = said.get('tests_executed');
  // what the tool says of itself comes with every run and is none of its tests
  if (ran !== undefined)
    facts.inventory = new Set([
      ...ran
        .split('|')
        .map((id) => id.trim())
        .filter(Boolean),
      'LYNIS',
    ]);
  return { host: given(said.get('hostname')) || 'host', details, packageTest };
}

/** A package that the manager of packages knows a hole of; which, it does not say. */
const toPackage = (name: string, test: string): Item =>
  record({
    title: `${name} has a known vulnerability`,
    severity: severities.warning,
    source: 'sca',
    ruleId: test,
    location: { kind: 'package', name, path: test },
    fix: { state: 'fixed_available', text: `Update ${name}` },
    tags: ['warning'],
    quality: 0.8,
  });

/**
 * `ID|text|details|solution|`. Details may have a bar of their own. A test says several things of one host: they are
 * told apart by their details, by their text where they have none, and by both where the details are the same.
 */
function toItem(kind: Kind, value: string, at: string, said: Said, texts: Map<string, string>): Item {
  const [id = '', text = '', ...rest] = value.replace(/\|$/, '').split('|');
  const ruleId = id.trim();
  if (!/^[\w.-]+$/.test(ruleId)) return unread('has no id of a test', at);
  const solution = given(rest.length > 1 ? rest.at(-1) : '').replace(/^text:/, '');
  const details = given((rest.length > 1 ? rest.slice(0, -1) : rest).join('|'));
  const title = given(text) || ruleId;
  const what = details || title;
  const place = `${ruleId} ${what}`;
  const isOther = (texts.get(place) ?? title) !== title;
  if (!isOther) texts.set(place, title);
  return record({
    title,
    description: [details, ...(said.details.get(ruleId) ?? [])].filter(Boolean).join('\n'),
    severity: severities[kind],
    source: 'cspm',
    ruleId,
    location: { kind: 'resource', address: `${said.host}: ${what}${isOther ? `: ${title}` : ''}`, path: ruleId },
    fix: { state: 'unknown', ...(solution === '' ? {} : { text: solution }) },
    tags: [kind],
    quality: 0.8,
  });
}

export const lynis: Format = {
  name: 'lynis',
  label: 'Lynis report file',
  detection: 'the line "# Lynis Report"',
  detect: isReport,
  async *read(file, facts) {
    if (!isReport(await readBeginning(file))) throw unfit('file', 'is no report file of Lynis');
    const said = await readFacts(file, facts);
    const texts = new Map<string, string>();
    for await (const [number, line] of readLines(file)) {
      const setting = readSetting(line);
      if (setting?.isOfList !== true) continue;
      const { name, value } = setting;
      const [at, aside] = [`line ${number}`, Object.hasOwn(asides, name) ? asides[name] : undefined];
      if (isKind(name)) yield toItem(name, value, at, said, texts);
      else if (name === 'vulnerable_package' && value !== '') yield toPackage(value, said.packageTest);
      else if (aside !== undefined) yield noFinding(aside, at);
    }
  },
};
