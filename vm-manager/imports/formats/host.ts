// Reports of tools that look at the settings of a host from within: Lynis (the report file of `lynis audit system`).
import { unfit } from '../../kit/endpoint.js';
import { readBeginning, readLines, type ReportFile } from '../reading/report-file.js';
import { record, type Item, type ReportFacts } from '../record.js';
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

/** A dash stands for nothing. */
const given = (text: string | undefined): string => (text === undefined || text.trim() === '-' ? '' : text.trim());

/**
 * The settings that say which host it is and what was looked at. A run that was stopped writes no
 * `report_datetime_end`, and one of a single category or group skipped the tests of all others without naming them:
 * neither proves that anything is gone. Otherwise `tests_executed` names the tests that ran; the others prove nothing.
 */
async function readFacts(file: ReportFile, facts: ReportFacts): Promise<string> {
  const said = new Map<string, string>();
  for await (const [, line] of readLines(file)) {
    const setting = readSetting(line);
    if (setting !== null && !setting.isOfList) said.set(setting.name, setting.value);
  }
  const isWhole = (name: string): boolean => ['', 'all'].includes(said.get(name) ?? '');
  facts.tool = 'Lynis';
  facts.version = said.get('lynis_version') ?? '';
  facts.complete = given(said.get('report_datetime_end')) !== '' && isWhole('test_category') && isWhole('test_group');
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
  return given(said.get('hostname')) || 'host';
}

/**
 * `ID|text|details|solution|`. Details may have a bar of their own. A test says several things of one host: they are
 * told apart by their details, by their text where they have none, and by both where the details are the same.
 */
function toItem(kind: Kind, value: string, at: string, host: string, texts: Map<string, string>): Item {
  const [id = '', text = '', ...rest] = value.replace(/\|$/, '').split('|');
  const ruleId = id.trim();
  if (!/^[\w.-]+$/.test(ruleId)) return { dropped: 'has no id of a test', at };
  const solution = given(rest.length > 1 ? rest.at(-1) : '').replace(/^text:/, '');
  const details = given((rest.length > 1 ? rest.slice(0, -1) : rest).join('|'));
  const title = given(text) || ruleId;
  const what = details || title;
  const place = `${ruleId} ${what}`;
  const isOther = (texts.get(place) ?? title) !== title;
  if (!isOther) texts.set(place, title);
  return record({
    title,
    description: details,
    severity: severities[kind],
    source: 'cspm',
    ruleId,
    location: { kind: 'resource', address: `${host}: ${what}${isOther ? `: ${title}` : ''}`, path: ruleId },
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
    const host = await readFacts(file, facts);
    const texts = new Map<string, string>();
    for await (const [number, line] of readLines(file)) {
      const setting = readSetting(line);
      if (setting?.isOfList === true && isKind(setting.name))
        yield toItem(setting.name, setting.value, `line ${number}`, host, texts);
    }
  },
};
