// Tools for C and C++: Cppcheck (XML version 2), the Clang static analyzer (property lists), Flawfinder (CSV).
import { ApiError } from '#http-kit';
import { unfit } from '../../../kit/endpoint.js';
import { at as memberAt, cwesOf, pos, reportPath, str, texts } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { readBeginning } from '../../reading/report-file.js';
import { childrenOf, childText, readXml, type Element } from '../../reading/xml.js';
import { readSeverity } from '../../severity/read.js';
import { toolScales } from '../../severity/words.js';
import { isCppcheckFault, isOfCppcheckRun } from '../../kinds/cppcheck.js';
import type { Format } from '../format.js';
import { readRows } from '../../reading/csv.js';

const lineOf = (value: unknown) => (pos(value) === undefined ? {} : { line: pos(value) as number });
const columnOf = (value: unknown) => (pos(value) === undefined ? {} : { column: pos(value) as number });

export const cppcheck: Format = {
  name: 'cppcheck',
  label: 'Cppcheck XML',
  detection: '<results> with <cppcheck>',
  detect: (beginning) => /<results[\s>]/.test(beginning) && /<cppcheck[\s/>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Cppcheck';
    facts.complete = false;
    let hasEnd = false;
    let isWhole = true;
    let hasList = false;
    for await (const [element, above] of readXml(file, (name) => ['cppcheck', 'error', 'errors'].includes(name), [
      'errors',
    ])) {
      if (above[0]?.name !== 'results') continue;
      hasList ||= element.name === 'errors';
      if (element.name === 'errors') continue;
      if (element.name === 'cppcheck') {
        facts.version = element.attributes['version'] ?? '';
        hasEnd = true;
        continue;
      }
      const { id = '' } = element.attributes;
      if (isCppcheckFault(id)) isWhole = false;
      yield cppcheckItem(element);
    }
    if (!hasEnd) throw unfit('file', 'is no report of Cppcheck', 'write it with --xml --xml-version=2');
    facts.complete = isWhole && hasList;
  },
};

function cppcheckItem(element: Element): Item {
  const { id = '', severity = '', msg = '', verbose = '', cwe = '' } = element.attributes;
  const [first] = childrenOf(element, 'location');
  const symbol = childText(element, 'symbol');
  if (id === '') return unread('has no id', 'error');
  if (isOfCppcheckRun(id) || isCppcheckFault(id)) return noFinding('is about the run', id);
  const { file = '', line = '', column = '' } = first?.attributes ?? {};
  const made = record({
    title: msg || id,
    description: verbose === msg ? '' : verbose,
    ...readSeverity(severity, { scale: toolScales.cppcheck }),
    cwes: cwesOf([cwe], true),
    source: ['error', 'warning'].includes(severity) ? 'sast' : 'quality',
    ruleId: id,
    location: {
      kind: 'code',
      path: reportPath(file) || 'unknown',
      ...lineOf(line),
      ...columnOf(column),
      ...(symbol === '' ? {} : { symbol }),
    },
    quality: element.attributes['inconclusive'] === 'true' ? 0.6 : 0.7,
  });
  return made;
}

/** A property list as plain values: dictionaries, lists, texts. Throws nothing; what is unknown is its text. */
function plistValue(element: Element): unknown {
  if (element.name === 'array') return element.children.map(plistValue);
  if (element.name !== 'dict') return element.text.trim();
  const made: Record<string, unknown> = {};
  for (let at = 0; at + 1 < element.children.length; at += 2) {
    const [key, value] = [element.children[at], element.children[at + 1]];
    if (key?.name === 'key' && value !== undefined) made[key.text.trim()] = plistValue(value);
  }
  return made;
}

export const clangPlist: Format = {
  name: 'clang-plist',
  label: 'Clang static analyzer property list',
  detection: '<plist> with diagnostics',
  detect: (beginning) => /<plist[\s>]/.test(beginning) && /<key>(?:clang_version|diagnostics)<\/key>/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Clang Static Analyzer';
    let isReport = false;
    for await (const [plist] of readXml(file, (name) => name === 'plist')) {
      const [top] = plist.children;
      const report = (top === undefined ? {} : plistValue(top)) as Record<string, unknown>;
      if (!Array.isArray(report['diagnostics'])) continue;
      isReport = true;
      facts.version = str(report['clang_version']).slice(0, 200);
      const files = texts(report['files']);
      for (const [index, one] of (report['diagnostics'] as Record<string, unknown>[]).entries()) {
        yield clangItem(one, files, `/diagnostics/${index}`);
        const file = str(memberAt(one, 'location', 'file'));
        if (file !== '' && files[Number(file)] === undefined)
          yield fault(`/diagnostics/${index}: file ${file} is none of the ${files.length} that the report lists`);
      }
    }
    if (!isReport) throw unfit('file', 'is no property list of the Clang static analyzer');
    // it lists what was found, and not which files were looked at
    facts.complete = true;
  },
};

function clangItem(one: Record<string, unknown>, files: readonly string[], at: string): Item {
  const [rule = ''] = texts(one['check_name']);
  const [title = ''] = texts(one['description']).concat(texts(one['type']));
  if (rule === '' && title === '') return unread('has no check_name and no description', at);
  const place = (one['location'] ?? {}) as Record<string, unknown>;
  const [symbol = ''] = texts(one['issue_context']);
  const path = reportPath(files[Number(place['file'] ?? 0)]) || 'unknown';
  const [hash = ''] = texts(one['issue_hash_content_of_line_in_context']);
  return record({
    title,
    description: texts(one['category']).concat(texts(one['type'])).join(': '),
    severity: 'medium',
    source: 'sast',
    ruleId: rule || (texts(one['type'])[0] ?? ''),
    nativeId: hash === '' ? null : `${hash} ${path}`,
    location: {
      kind: 'code',
      path,
      ...lineOf(place['line']),
      ...columnOf(place['col']),
      ...(symbol === '' ? {} : { symbol }),
    },
  });
}

const flawfinderHead = ['file', 'line', 'defaultlevel', 'level', 'category', 'name', 'warning'];

export const flawfinder: Format = {
  name: 'flawfinder',
  label: 'Flawfinder CSV',
  detection: 'a head line with File, Line, DefaultLevel, Level, Category, Name, Warning',
  detect: (beginning) => {
    const head = (beginning.split(/\r?\n/, 1)[0] ?? '').toLowerCase().split(',');
    return flawfinderHead.every((name) => head.includes(name));
  },
  async *read(file, facts) {
    if (!flawfinder.detect(await readBeginning(file))) throw unfit('file', 'is no CSV of Flawfinder');
    facts.tool = 'Flawfinder';
    try {
      for await (const [number, row] of readRows(file)) {
        facts.version ||= row['toolversion'] ?? '';
        yield flawfinderItem(row, `line ${number}`);
      }
    } catch (error) {
      if (error instanceof ApiError) facts.complete = false;
      throw error;
    }
    facts.complete = true;
  },
};

function flawfinderItem(row: Readonly<Record<string, string>>, at: string): Item {
  const { name = '', category = '', warning = '', level = '', suggestion = '', note = '', context = '' } = row;
  const rule = row['ruleid'] || `${category}/${name}`;
  if (name === '' && row['ruleid'] === undefined) return unread('has no Name', at);
  return record({
    title: warning || `${category}: ${name}`,
    description: [`${category}: ${name}`, note].filter(Boolean).join('\n'),
    ...readSeverity(level, { scale: toolScales.flawfinder }),
    cwes: cwesOf([row['cwes']]),
    source: 'sast',
    ruleId: rule,
    nativeId: row['fingerprint'] || null,
    location: {
      kind: 'code',
      path: reportPath(row['file']) || 'unknown',
      ...lineOf(row['line']),
      ...columnOf(row['column']),
      ...(context === '' ? {} : { snippet: context }),
    },
    fix: { state: 'unknown', text: suggestion },
    references: texts(row['helpuri']),
    tags: [category, name].filter(Boolean),
    quality: 0.6,
  });
}
