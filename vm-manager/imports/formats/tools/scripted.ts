// Wapiti (JSON), secretlint (JSON), Bandit as CSV and as XML.
import { unfit } from '../../../kit/endpoint.js';
import {
  at,
  cwesOf,
  list,
  moment,
  num,
  obj,
  pos,
  reportPath,
  secretHash,
  str,
  texts,
  type Json,
} from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { readRows } from '../../reading/csv.js';
import { readBeginning, readJson } from '../../reading/report-file.js';
import { readXml, type Element } from '../../reading/xml.js';
import { readSeverity } from '../../severity/read.js';
import { toolScales } from '../../severity/words.js';
import { siteOf } from '../../run/looked-at.js';
import type { Format } from '../format.js';

const lineOf = (value: unknown) => (pos(value) === undefined ? {} : { line: pos(value) as number });

function addressOf(path: string, target: string): string {
  if (!URL.canParse(path, target)) return path;
  return new URL(path, target).href;
}

export const wapiti: Format = {
  name: 'wapiti',
  label: 'Wapiti JSON',
  detection: '"classifications" and "vulnerabilities", or "infos" with "target"',
  detect: (beginning) =>
    /^\s*\{\s*"classifications"\s*:/.test(beginning) ||
    (beginning.includes('"vulnerabilities"') && beginning.includes('"anomalies"') && beginning.includes('"infos"')),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (report['vulnerabilities'] === undefined || report['infos'] === undefined)
      throw unfit('file', 'is no report of Wapiti');
    facts.tool = 'Wapiti';
    facts.version = str(at(report, 'infos', 'version'));
    facts.scannedAt = moment(at(report, 'infos', 'date'));
    const target = str(at(report, 'infos', 'target'));
    facts.looked = { by: 'site', names: new Set([siteOf(target) ?? '']) };
    if (num(at(report, 'infos', 'crawled_pages_nbr')) === 0)
      yield fault(`no page of ${target} was read (infos.crawled_pages_nbr is 0): the target was not reached`);
    for (const section of ['vulnerabilities', 'anomalies'])
      for (const [category, rows] of Object.entries(obj(report[section])))
        for (const [index, value] of list(rows).entries())
          yield wapitiItem(obj(value), category, obj(at(report, 'classifications', category)), {
            target,
            place: `/${section}/${category}/${index}`,
          });
    for (const [category, rows] of Object.entries(obj(report['additionals'])))
      for (const index of list(rows).keys()) yield noFinding('is a fact', `/additionals/${category}/${index}`);
  },
};

function wapitiItem(one: Json, category: string, of: Json, { target, place }: { target: string; place: string }): Item {
  const path = str(one['path']);
  if (path === '' && target === '') return unread('has no path', place);
  const parameter = str(one['parameter']);
  const info = str(one['info']);
  const url = addressOf(path, target);
  const method = str(one['method']).toUpperCase() || 'GET';
  // of a page as a whole it says several things in one category: one for each header, cookie or directive
  const isOfPage = parameter === '' && info !== '';
  return record({
    title: isOfPage && info.length <= 120 ? `${category}: ${info}` : category,
    description: [info, str(of['desc'])].filter(Boolean).join('\n\n'),
    ...readSeverity(one['level'], { scale: toolScales.wapiti }),
    source: 'dast',
    ruleId: category,
    nativeId: isOfPage ? `${method} ${url} ${info}` : null,
    location: {
      kind: 'web',
      url,
      method,
      ...(parameter === '' ? {} : { param: parameter }),
      ...(str(one['module']) === '' ? {} : { matcher: str(one['module']) }),
    },
    fix: { state: 'unknown', text: str(of['sol']) },
    references: Object.values(obj(of['ref'])).flatMap((link) => texts(link)),
    evidence: ['http_request', 'curl_command']
      .map((name) => [name, str(one[name]).slice(0, 4000)] as const)
      .filter(([, text]) => text !== '')
      .map(([name, text]) => ({ [name]: text })),
    tags: texts(one['wstg']),
  });
}

export const secretlint: Format = {
  name: 'secretlint',
  label: 'secretlint JSON',
  detection: 'a list with "filePath" and "messages" of rules "@secretlint/…"',
  detect: (beginning) =>
    /^\s*\[/.test(beginning) &&
    beginning.includes('"filePath"') &&
    (beginning.includes('secretlint-rule') || beginning.includes('"sourceContentType"')),
  async *read(file, facts) {
    const report = await readJson(file);
    if (!Array.isArray(report)) throw unfit('file', 'is no report of secretlint');
    facts.tool = 'secretlint';
    if ((report as unknown[]).length === 0) yield fault('the report names no file: none was looked at');
    for (const [index, value] of (report as unknown[]).entries()) {
      const content = str(obj(value)['sourceContent']);
      if (!Array.isArray(obj(value)['messages'])) yield unread('has no messages', `/${index}`);
      for (const [number, one] of list(obj(value)['messages']).entries())
        yield secretlintItem(obj(one), reportPath(obj(value)['filePath']), content, `/${index}/messages/${number}`);
    }
  },
};

function secretlintItem(one: Json, path: string, content: string, place: string): Item {
  const ruleId = str(one['ruleId']);
  if (ruleId === '') return unread('has no ruleId', place);
  // the same members in a report of ESLint; a custom rule has a preset above it or a place in the text
  if (one['loc'] === undefined && one['range'] === undefined) return unread('is no message of secretlint', place);
  const start = at(one, 'loc', 'start', 'line');
  const [from, to] = list(one['range']).map(Number);
  const secret = from !== undefined && to !== undefined ? content.slice(from, to) : '';
  // its SARIF has no secret: the place tells them apart in both
  const placed = str(pos(start) ?? '');
  return record({
    title: str(one['message']) || ruleId,
    ...readSeverity(one['severity'], { scale: toolScales.linter }),
    cwes: [798],
    source: 'secret',
    ruleId,
    location: { kind: 'secret', path, ...lineOf(start), hash: secretHash(`${ruleId}|${path}|${placed}`) },
    placed,
    tags: texts(one['messageId']),
    references: texts(one['docsUrl']),
    ...(secret.length >= 4 ? { secrets: [secret] } : {}),
  });
}

interface BanditResult {
  readonly rule: string;
  readonly severity: string;
  readonly confidence: string;
  readonly text: string;
  readonly cwe: string;
  readonly path: string;
  readonly line: string;
  readonly link: string;
}

const banditRecord = ({ rule, severity, confidence, text, cwe, path, line, link }: BanditResult): Item =>
  record({
    title: text || rule,
    ...readSeverity(severity),
    cwes: cwesOf([cwe]),
    source: 'sast',
    ruleId: rule,
    location: { kind: 'code', path: reportPath(path) || 'unknown', ...lineOf(line) },
    references: texts(link),
    quality: { HIGH: 0.85, MEDIUM: 0.7, LOW: 0.6 }[confidence.toUpperCase()] ?? 0.7,
  });

const banditHead = ['filename', 'test_name', 'test_id', 'issue_severity', 'issue_text'];

export const banditCsv: Format = {
  name: 'bandit-csv',
  label: 'Bandit CSV',
  detection: 'a head line with filename, test_name, test_id, issue_severity, issue_text',
  detect: (beginning) => {
    const head = (beginning.split(/\r?\n/, 1)[0] ?? '').split(',').map((cell) => cell.trim());
    return banditHead.every((name) => head.includes(name));
  },
  async *read(file, facts) {
    if (!banditCsv.detect(await readBeginning(file))) throw unfit('file', 'is no CSV of Bandit');
    facts.tool = 'Bandit';
    for await (const [number, row] of readRows(file)) {
      const cell = (name: string): string => row[name] ?? '';
      if (cell('test_id') === '') yield unread('has no test_id', `line ${number}`);
      else
        yield banditRecord({
          rule: cell('test_id'),
          severity: cell('issue_severity'),
          confidence: cell('issue_confidence'),
          text: cell('issue_text'),
          cwe: cell('issue_cwe'),
          path: cell('filename'),
          line: cell('line_number'),
          link: cell('more_info'),
        });
    }
    facts.complete = true;
  },
};

export const banditXml: Format = {
  name: 'bandit-xml',
  label: 'Bandit XML',
  detection: '<testsuite name="bandit">',
  detect: (beginning) => /<testsuite\s[^>]{0,200}name=["']bandit["']/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Bandit';
    let isReport = false;
    for await (const [element] of readXml(file, (name) => name === 'testcase' || name === 'testsuite', ['testsuite'])) {
      if (element.name === 'testsuite') isReport ||= element.attributes['name'] === 'bandit';
      else yield banditCase(element);
    }
    if (!isReport) throw unfit('file', 'is no XML of Bandit');
  },
};

function banditCase(element: Element): Item {
  const { classname: path = '', name = '' } = element.attributes;
  const error = element.children.find((child) => child.name === 'error');
  if (error === undefined) return noFinding('is no error', path);
  const said = (label: RegExp): string => label.exec(error.text)?.[1] ?? '';
  const rule = said(/Test ID:\s*(\w+)/);
  if (rule === '') return unread('has no test id', `${path} ${name}`);
  return banditRecord({
    rule,
    severity: said(/Severity:\s*(\w+)/) || (error.attributes['type'] ?? ''),
    confidence: said(/Confidence:\s*(\w+)/),
    text: error.attributes['message'] ?? name,
    cwe: said(/CWE:\s*(CWE-\d+)/),
    path,
    line: said(/Location [^\n]*:(\d+)/),
    link: error.attributes['more_info'] ?? '',
  });
}
