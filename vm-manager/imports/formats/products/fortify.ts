// Fortify Static Code Analyzer: audit.fvdl, alone or as `reading/fpr.ts` takes it out of an FPR with what was audited.
import type { Severity } from '../../../findings/words.js';
import { unfit } from '../../../kit/endpoint.js';
import { cwesOf, num, plainText, pos, reportPath } from '../../normalize.js';
import { fault, record, unread, type Item } from '../../record.js';
import type { ReportFile } from '../../reading/report-file.js';
import { childText, childrenOf, readXml, type Element } from '../../reading/xml.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

/** What the rule of a finding says of it, by its class. */
interface Rules {
  readonly facts: Map<string, ReadonlyMap<string, string>>;
  readonly told: Map<string, { readonly description: string; readonly fix: string }>;
  /** Places that findings name by a number only. */
  readonly nodes: Map<string, Element>;
  /** Findings that somebody has set aside, by InstanceID. */
  readonly setAside: Set<string>;
}

const within = (element: Element | undefined, ...names: readonly string[]): Element | undefined =>
  names.reduce<Element | undefined>((here, name) => childrenOf(here, name)[0], element);
const local = (name: string): string => name.slice(name.indexOf(':') + 1);
const groupsOf = (meta: Element | undefined): Map<string, string> =>
  new Map(childrenOf(meta, 'Group').map(({ attributes, text }) => [attributes['name'] ?? '', text.trim()] as const));

/** The end of the main trace: where what was found happens. */
function endOf(vulnerability: Element): Element | undefined {
  const traces = childrenOf(within(vulnerability, 'AnalysisInfo', 'Unified'), 'Trace');
  const entries = childrenOf(within(traces[0], 'Primary'), 'Entry');
  const marked = entries.find((entry) => within(entry, 'Node')?.attributes['isDefault'] === 'true');
  return marked ?? entries.at(-1);
}
const refOf = (entry: Element | undefined): string => within(entry, 'NodeRef')?.attributes['id'] ?? '';

/** Rules, places and audits stand behind the findings that they are about: read first. */
async function readRules(file: ReportFile): Promise<Rules> {
  const rules: Rules = { facts: new Map(), told: new Map(), nodes: new Map(), setAside: new Set() };
  const named = new Set<string>();
  const wanted = new Set(['Vulnerability', 'Node', 'Description', 'Rule', 'Issue']);
  for await (const [element, ancestors] of readXml(file, (name) => wanted.has(local(name)))) {
    const around = ancestors.at(-1)?.name ?? '';
    const id = element.attributes['id'] ?? '';
    switch (local(element.name)) {
      case 'Vulnerability':
        named.add(refOf(endOf(element)));
        break;
      case 'Node':
        if (around === 'UnifiedNodePool' && named.has(id)) rules.nodes.set(id, element);
        break;
      case 'Description':
        rules.told.set(element.attributes['classID'] ?? '', {
          description: plainText(childText(element, 'Abstract') || childText(element, 'Explanation')),
          fix: plainText(childText(element, 'Recommendations')),
        });
        break;
      case 'Rule':
        if (around === 'RuleInfo') rules.facts.set(id, groupsOf(within(element, 'MetaInfo')));
        break;
      case 'Issue':
        if (isSetAside(element)) rules.setAside.add(element.attributes['instanceId'] ?? '');
    }
  }
  return rules;
}

/** Of audit.xml: suppressed, or audited as no issue. */
function isSetAside(issue: Element): boolean {
  if (issue.attributes['suppressed'] === 'true') return true;
  const tags = issue.children.filter(({ name }) => local(name) === 'Tag');
  return tags.some(({ children }) =>
    children.some(({ name, text }) => local(name) === 'Value' && text.trim() === 'Not an Issue'),
  );
}

/** Fortify Priority Order: by impact, and by likelihood, both up to 5 with the middle at 2.5. */
function priorityOf(value: (name: string) => number | null, confidence: number | null): Severity | null {
  const [impact, probability, accuracy] = [value('Impact'), value('Probability'), value('Accuracy')];
  if (impact === null || probability === null || accuracy === null || confidence === null) return null;
  const isLikely = (accuracy * confidence * probability) / 25 >= 2.5;
  return impact >= 2.5 ? (isLikely ? 'critical' : 'high') : isLikely ? 'medium' : 'low';
}

function fortifyItem(vulnerability: Element, rules: Rules, number: number): Item {
  const [kind, instance] = [within(vulnerability, 'ClassInfo'), within(vulnerability, 'InstanceInfo')];
  const [rule, id] = [kind, instance].map((one, index) =>
    one === undefined ? '' : childText(one, index === 0 ? 'ClassID' : 'InstanceID'),
  ) as [string, string];
  const entry = endOf(vulnerability);
  const node = within(entry, 'Node') ?? rules.nodes.get(refOf(entry));
  const source = within(node, 'SourceLocation')?.attributes;
  const path = reportPath(source?.['path']);
  const type = kind === undefined ? '' : childText(kind, 'Type');
  if (rule === '' || type === '' || path === '')
    return unread('has no ClassID, Type or place', id || `Vulnerability ${number}`);
  const [own, common] = [groupsOf(within(instance, 'MetaInfo')), rules.facts.get(rule)];
  const text = (name: string): string => own.get(name) ?? common?.get(name) ?? '';
  const priority = priorityOf((name) => num(text(name)), num(childText(instance as Element, 'Confidence')));
  const subtype = childText(kind as Element, 'Subtype');
  const symbol = within(vulnerability, 'AnalysisInfo', 'Unified', 'Context', 'Function')?.attributes['name'] ?? '';
  const told = rules.told.get(rule);
  const [line, column] = [pos(source?.['line']), pos(source?.['colStart'])];
  return record({
    title: subtype === '' ? type : `${type}: ${subtype}`,
    description: told?.description ?? '',
    ...(priority === null ? readSeverity(text('Fortify Priority Order')) : { severity: priority }),
    cwes: cwesOf([text('altcategoryCWE').replace(/CWE ID /g, 'CWE-')]),
    source: 'sast',
    ruleId: subtype === '' ? type : `${type}: ${subtype}`,
    nativeId: id || null,
    location: {
      ...{ kind: 'code', path },
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
      ...(symbol === '' ? {} : { symbol }),
    },
    fix: { state: 'unknown', text: told?.fix ?? '' },
    quality: 0.8,
    suppressed: id !== '' && rules.setAside.has(id),
    extra: { class_id: rule, kingdom: childText(kind as Element, 'Kingdom') },
  });
}

export const fortify: Format = {
  name: 'fortify',
  label: 'Fortify FPR and FVDL',
  detection: '<FVDL>, or a zip with audit.fvdl',
  detect: (beginning) => beginning.startsWith('<fortify-fpr>') || /<FVDL[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Fortify';
    const rules = await readRules(file);
    const wanted = new Set(['Vulnerability', 'NumberFiles', 'EngineVersion', 'SourceBasePath', 'Error', 'FVDL']);
    let [isReport, number, files] = [false, 0, -1];
    for await (const [element] of readXml(file, (name) => wanted.has(name), ['FVDL'])) {
      const text = element.text.trim();
      if (element.name === 'Vulnerability') yield fortifyItem(element, rules, ++number);
      else if (element.name === 'FVDL') isReport = true;
      else if (element.name === 'NumberFiles') files = num(text) ?? -1;
      else if (element.name === 'EngineVersion') facts.version = text;
      else if (element.name === 'SourceBasePath') facts.roots = text === '' ? [] : [text];
      else yield fault(`${element.attributes['code'] ?? 'error'}: ${text}`);
    }
    if (!isReport) throw unfit('file', 'is no FVDL of Fortify');
    if (files < 1 && number === 0) yield fault('the report names no file that was scanned (NumberFiles)');
  },
};
