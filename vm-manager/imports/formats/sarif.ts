// SARIF 2.1.0 (OASIS). Results are read one by one; the rest of the document (tools, rules, artifacts) is read before.
import { unfit } from '../../kit/endpoint.js';
import {
  at,
  cleanPath,
  cwesOf,
  list,
  moment,
  num,
  obj,
  pos,
  severityOfScore,
  str,
  texts,
  vulnIdsOf,
  type Json,
} from '../normalize.js';
import { cut, record, type Item, type Location } from '../record.js';
import { parseJson, readElements, readRest } from '../reading/report-file.js';
import type { Severity } from '../../findings/words.js';
import type { Format } from './format.js';

const results = ['runs', '*', 'results', '*'];
const levels: Readonly<Record<string, Severity>> = { error: 'high', warning: 'medium', note: 'low', none: 'info' };

interface Run {
  readonly tool: string;
  readonly rules: readonly Json[];
  readonly extensions: readonly (readonly Json[])[];
  readonly byId: ReadonlyMap<string, Json>;
  readonly artifacts: readonly Json[];
}

function readRun(run: Json): Run {
  const driver = obj(at(run, 'tool', 'driver'));
  const rules = list(driver['rules']).map(obj);
  const extensions = list(at(run, 'tool', 'extensions')).map((one) => list(obj(one)['rules']).map(obj));
  const byId = new Map<string, Json>();
  for (const rule of [...rules, ...extensions.flat()]) if (!byId.has(str(rule['id']))) byId.set(str(rule['id']), rule);
  return { tool: str(driver['name']) || 'SARIF', rules, extensions, byId, artifacts: list(run['artifacts']).map(obj) };
}

/** By index, by reference, by id, and by the beginning of a hierarchical id (`a/b/c` is of the rule `a/b`). */
function ruleOf(result: Json, run: Run): Json {
  const reference = obj(result['rule']);
  const index = num(result['ruleIndex']) ?? num(reference['index']) ?? -1;
  const component = num(at(reference, 'toolComponent', 'index'));
  const byIndex = component === null ? run.rules[index] : run.extensions[component]?.[index];
  if (byIndex !== undefined) return byIndex;
  for (
    let id = str(result['ruleId']) || str(reference['id']);
    id !== '';
    id = id.slice(0, Math.max(0, id.lastIndexOf('/')))
  ) {
    const rule = run.byId.get(id);
    if (rule !== undefined) return rule;
  }
  return {};
}

function severityOf(result: Json, rule: Json): Severity {
  const score = num(at(rule, 'properties', 'security-severity')) ?? num(at(result, 'properties', 'security-severity'));
  if (score !== null) return severityOfScore(score);
  const level = str(result['level']) || str(at(rule, 'defaultConfiguration', 'level')) || 'warning';
  return levels[level] ?? 'medium';
}

function messageOf(result: Json, rule: Json): string {
  const message = obj(result['message']);
  const text = str(message['text']) || str(message['markdown']);
  if (text !== '') return text;
  const template = str(at(rule, 'messageStrings', str(message['id']), 'text'));
  const values = texts(message['arguments']);
  return template.replace(/\{(\d{1,2})\}/g, (whole, index: string) => values[Number(index)] ?? whole);
}

function locationOf(given: unknown, run: Run): Location {
  const physical = obj(at(given, 'physicalLocation'));
  const artifact = obj(physical['artifactLocation']);
  const listed = run.artifacts[num(artifact['index']) ?? -1];
  const path = cleanPath(artifact['uri'] ?? at(listed, 'location', 'uri'));
  const region = obj(physical['region']);
  const symbol =
    str(at(given, 'logicalLocations', 0, 'fullyQualifiedName')) || str(at(given, 'logicalLocations', 0, 'name'));
  const snippet = str(at(region, 'snippet', 'text')) || str(at(physical, 'contextRegion', 'snippet', 'text'));
  return {
    kind: 'code',
    path: path || symbol || 'unknown',
    ...optional('line', pos(region['startLine'])),
    ...optional('end_line', pos(region['endLine'])),
    ...optional('column', pos(region['startColumn'])),
    ...(symbol === '' ? {} : { symbol }),
    ...(snippet === '' ? {} : { snippet }),
  };
}

const optional = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as Partial<Record<Name, Value>>;

const firstByName = (given: unknown) =>
  Object.entries(obj(given)).sort(([left], [right]) => (left < right ? -1 : 1))[0];

function nativeOf(result: Json): string | null {
  const own = firstByName(result['fingerprints']);
  const line = str(at(result, 'partialFingerprints', 'primaryLocationLineHash'));
  const partial = firstByName(result['partialFingerprints']);
  const found = own?.[1] ?? (line === '' ? partial?.[1] : line);
  return str(found) || str(result['guid']) || str(result['correlationGuid']) || null;
}

/** Set aside, unless all that was said about it was rejected. */
const isSuppressed = (result: Json): boolean =>
  list(result['suppressions']).some((one) => str(obj(one)['status']) !== 'rejected');

function toRecord(result: Json, run: Run): Item | null {
  const kind = str(result['kind']) || 'fail';
  if (['pass', 'notApplicable'].includes(kind) || str(result['baselineState']) === 'absent') return null;
  const rule = ruleOf(result, run);
  const properties = obj(rule['properties']);
  const tags = texts(properties['tags']);
  const ruleId = str(result['ruleId']) || str(at(result, 'rule', 'id')) || str(rule['id']);
  const message = messageOf(result, rule);
  const trace = list(at(result, 'codeFlows', 0, 'threadFlows', 0, 'locations')).slice(0, 20);
  const further = list(result['locations']).slice(1, 20);
  const taxa = list(result['taxa']).map((one) => `CWE-${str(obj(one)['id']).replace(/^cwe-?/i, '')}`);
  const related = list(rule['relationships'])
    .map((one) => str(at(one, 'target', 'id')))
    .map((id) => (/^\d+$/.test(id) ? `CWE-${id}` : id));
  return record({
    title: str(at(rule, 'shortDescription', 'text')) || str(rule['name']) || message || ruleId,
    description: [message, str(at(rule, 'fullDescription', 'text'))].filter(Boolean).join('\n\n'),
    severity: kind === 'fail' ? severityOf(result, rule) : 'info',
    cwes: cwesOf([
      ...related,
      ...tags,
      ...texts(at(result, 'properties', 'cwe')),
      ...texts(properties['cwe']),
      ...taxa,
    ]),
    vulnIds: vulnIdsOf([ruleId, str(rule['name'])]),
    source: 'sast',
    ruleId,
    nativeId: nativeOf(result),
    location: locationOf(at(result, 'locations', 0), run),
    fix: {
      state: list(result['fixes']).length > 0 ? 'fixed_available' : 'unknown',
      text: cut(str(at(result, 'fixes', 0, 'description', 'text')) || str(at(rule, 'help', 'text')), 5000),
    },
    references: texts(rule['helpUri']),
    evidence: [...trace.map((one) => at(one, 'location')), ...further].map((one) => locationOf(one, run)),
    tags: tags.filter((tag) => !/cwe/i.test(tag)),
    quality: (num(result['rank']) ?? 70) / 100,
    suppressed: isSuppressed(result),
    extra: { tool: run.tool },
  });
}

export const sarif: Format = {
  name: 'sarif',
  label: 'SARIF 2.1.0',
  detection: '"version": "2.1.0" and "runs"',
  detect: (beginning) => /"version"\s*:\s*"2\.1\.0"/.test(beginning) && /"(?:runs|\$schema)"\s*:/.test(beginning),
  async *read(file, facts) {
    const rest = obj(await readRest(file, results));
    if (rest['version'] !== '2.1.0' || !Array.isArray(rest['runs'])) throw unfit('file', 'is no SARIF 2.1.0 report');
    const runs = list(rest['runs']).map((run) => readRun(obj(run)));
    const invocations = list(rest['runs']).flatMap((run) => list(obj(run)['invocations']).map(obj));
    facts.tool = runs[0]?.tool ?? 'SARIF';
    facts.version =
      str(at(rest, 'runs', 0, 'tool', 'driver', 'semanticVersion')) ||
      str(at(rest, 'runs', 0, 'tool', 'driver', 'version'));
    facts.complete = invocations.every((one) => one['executionSuccessful'] !== false);
    facts.scannedAt = moment(invocations.at(-1)?.['endTimeUtc']);
    const [none] = runs;
    for await (const {
      at: [runIndex = 0, index = 0],
      text,
    } of readElements(file, results)) {
      const place = `/runs/${runIndex}/results/${index}`;
      const result = parseJson(text, place);
      if (Object.keys(obj(result)).length === 0) yield { dropped: 'is no result', at: place };
      else
        yield toRecord(obj(result), runs[runIndex] ?? none ?? readRun({})) ?? { dropped: 'is no failure', at: place };
    }
  },
};
